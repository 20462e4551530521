import { Lexer } from 'marked'
import type { Token } from 'marked'
import remend from 'remend'
import { lexing } from './rules.ts'

/** A block of a text: a paragraph, a list, a table. The object stays the same as long as the block does. */
export interface Block {
  readonly token: Token
  /** Whether more text may still belong to the block. */
  readonly open: boolean
}

interface Parsed {
  readonly raw: string
  readonly block: Block
}

/**
 * Splits a growing text into blocks. Text only grows at its end, so all blocks but the last stay as they are, and only the
 * text from the last block on is read again. The cost of a token does not depend on the length of the text before it.
 */
export class Blocks {
  #closed: Parsed[] = []
  /** Number of characters in the closed blocks. */
  #length = 0
  #text = ''
  #last: readonly Block[] = []

  /** The blocks of a text. `streaming`: the text may grow, and unfinished marks at its end are completed for now. */
  of(text: string, streaming: boolean): readonly Block[] {
    const grown = this.#grown(text, streaming)
    if (grown) return grown
    if (!text.startsWith(this.#text.slice(0, this.#length))) this.#reset()
    this.#text = text
    const tokens = lex(text.slice(this.#length))
    const lastAt = tokens.findLastIndex(({ type }) => type !== 'space')
    for (const [at, token] of tokens.entries()) {
      if (at >= lastAt) break
      this.#closed.push({ raw: token.raw, block: { token, open: false } })
      this.#length += token.raw.length
    }
    this.#last = tokens.slice(Math.max(0, lastAt)).flatMap((token) => this.#lastBlock(token, streaming))
    return this.#all
  }

  get #all(): readonly Block[] {
    return [...this.#closed.map(({ block }) => block), ...this.#last].filter(
      ({ token }) => token.type !== 'space',
    )
  }

  /**
   * The blocks after plain words were added to a paragraph that ends with plain words; undefined in other cases. This
   * is the most frequent case while an agent writes. It needs no lexer, which would read a long paragraph again for
   * each word.
   */
  #grown(text: string, open: boolean): readonly Block[] | undefined {
    const [last, ...more] = this.#last
    if (!last?.open || more.length > 0 || !text.startsWith(this.#text)) return undefined
    const added = text.slice(this.#text.length)
    const token =
      added === '' ? last.token : plainWords.test(added) ? withWords(last.token, added) : undefined
    if (!token || token.raw !== text.slice(this.#length)) return undefined
    this.#text = text
    if (token !== last.token || open !== last.open) this.#last = [{ token, open }]
    return this.#all
  }

  #lastBlock(token: Token, streaming: boolean): readonly Block[] {
    if (!streaming || token.type === 'space') return [{ token, open: false }]
    // A code block is open until its closing fence. No marks in it need to be completed.
    if (token.type === 'code') return [{ token, open: !isClosedFence(token.raw) }]
    const repaired = remend(token.raw)
    return [
      {
        token:
          repaired === token.raw.trimEnd() || repaired === token.raw ? token : (lex(repaired)[0] ?? token),
        open: true,
      },
    ]
  }

  #reset(): void {
    this.#closed = []
    this.#length = 0
  }
}

/** Words that cannot be a part of any mark, link or reference, whatever stands before them. */
const plainWords = /^[\p{L}\p{M} ,;]+$/u

/** A paragraph that ends with plain text, with words added to that text. Undefined if the token is something else. */
function withWords(token: Token, words: string): Token | undefined {
  if (token.type !== 'paragraph' || !('tokens' in token)) return undefined
  // Words after a mark, a line end or a part of an address may change how the text before them is parsed.
  if (!/[\p{L}\p{M},;] ?$/u.test(token.raw) || /(?:www|:\/\/|@)\S*$/i.test(token.raw)) return undefined
  const text = token.tokens?.at(-1)
  if (text?.type !== 'text' || 'tokens' in text || /&\w*$/.test(text.raw)) return undefined
  const grown = { ...text, raw: text.raw + words, text: `${text.text}${words}` }
  const raw = token.raw + words
  return { ...token, raw, text: raw, tokens: [...(token.tokens ?? []).slice(0, -1), grown] }
}

function lex(text: string): readonly Token[] {
  return new Lexer(lexing).lex(text)
}

function isClosedFence(raw: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1]
  return fence === undefined || new RegExp(`\\n {0,3}${fence}[\`~]*\\s*$`).test(raw)
}
