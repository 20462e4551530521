/** A piece of code and its kind, such as `keyword`; an empty kind has no colour. */
export type Span = readonly [kind: string, text: string]

const escapes: ReadonlyMap<string, string> = new Map([
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
  ['&quot;', '"'],
  ['&#x27;', "'"],
])

/**
 * Reads the output of the highlighter back into pieces of text. The page builds its own elements from them, so that no
 * markup of the highlighter reaches the page.
 */
export function spansOf(html: string): readonly Span[] {
  const spans: Span[] = []
  const kinds: string[] = []
  for (const [piece, opening] of html.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (opening !== undefined) kinds.push(kindOf(opening))
    else if (piece === '</span>') kinds.pop()
    else
      spans.push([
        kinds.at(-1) ?? '',
        piece.replaceAll(/&(?:lt|gt|amp|quot|#x27);/g, (each) => escapes.get(each) ?? each),
      ])
  }
  return spans
}

/** The kind in a class name of the highlighter, as in `hljs-keyword` or `hljs-title function_`. */
function kindOf(name: string): string {
  return /^hljs-([a-z-]+)/.exec(name)?.[1] ?? ''
}
