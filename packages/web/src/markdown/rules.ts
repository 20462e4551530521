import type { MarkedOptions, Tokens, TokenizerExtensionFunction } from 'marked'

/** A mark of a footnote in a text, such as `[^1]`. */
const footnote = /^\[\^([\w-]{1,20})\](?!:)/
/** The text of a footnote, in lines of its own. */
const footnoteText = /^ {0,3}\[\^([\w-]{1,20})\]: *([^\n]+(?:\n(?! *\[\^)[^\n]+)*)(?:\n+|$)/
/** A formula in lines of its own, without an empty one: an empty line ends a block for good while a text grows. */
const mathsBlock = /^ {0,3}(?:\$\$((?:[^$\n]|\n(?! *\n))+)\$\$|\\\[((?:[^\n]|\n(?! *\n))+?)\\\]) *(?:\n+|$)/
/** A formula in a line. An amount of money, or a variable of a shell, is none. */
const maths = /^(?:\$\$[^$]+\$\$|\\\[[\s\S]+?\\\]|\\\([\s\S]+?\\\)|\$(?![\s$])[^$\n]*[^\s$\\]\$(?!\w))/

/**
 * What texts of agents have, and the lexer does not know. It would take the backslashes of formulas away, and the text of a
 * footnote for the address of a link.
 */
const rules: { readonly [place in 'block' | 'inline']: TokenizerExtensionFunction[] } = {
  block: [
    function (text): Tokens.Generic | undefined {
      const [raw, name, note] = footnoteText.exec(text) ?? []
      if (raw === undefined || note === undefined) return undefined
      return { type: 'footnoteText', raw, name, tokens: this.lexer.inlineTokens(note) }
    },
    function (text): Tokens.Generic | undefined {
      const [raw, dollars, brackets] = mathsBlock.exec(text) ?? []
      return raw === undefined
        ? undefined
        : { type: 'mathsBlock', raw, text: (dollars ?? brackets ?? '').trim() }
    },
  ],
  inline: [
    function (text): Tokens.Generic | undefined {
      const [raw, name] = footnote.exec(text) ?? []
      return raw === undefined ? undefined : { type: 'footnote', raw, text: name }
    },
    function (text): Tokens.Generic | undefined {
      const [raw] = maths.exec(text) ?? []
      return raw === undefined ? undefined : { type: 'maths', raw, text: raw }
    },
  ],
}

/** The options of the lexer for texts of agents. */
export const lexing: MarkedOptions = {
  gfm: true,
  breaks: false,
  extensions: {
    renderers: {},
    childTokens: {},
    ...rules,
    startInline: [
      (text) => {
        const at = text.search(/\$|\\[([]|\[\^/)
        return at < 0 ? undefined : at
      },
    ],
  },
}
