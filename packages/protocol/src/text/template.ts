/**
 * URI templates as AHP uses them: literal text and `{name}`, nothing else of RFC 6570. Read in one pass, so that no
 * template and no URI takes more than linear time.
 */
export interface Template {
  readonly variables: readonly string[]
  /** Nothing when a variable has no value, or an empty one. */
  expand(values: { readonly [name: string]: string }): string | undefined
  /** The values that would expand to this URI; nothing when none do. */
  match(uri: string): { readonly [name: string]: string } | undefined
}

/** Nothing when the template is malformed or uses what we do not know. */
export function template(text: string): Template | undefined {
  const parts = parse(text)
  if (!parts) return undefined
  return {
    variables: parts.flatMap((part) => part.name ?? []),
    expand(values) {
      let uri = ''
      for (const { literal, name } of parts) {
        uri += literal
        if (name === undefined) continue
        const value = Object.hasOwn(values, name) ? encode(values[name] ?? '') : undefined
        if (!value) return undefined
        uri += value
      }
      return uri
    },
    match(uri) {
      const values: Record<string, string> = {}
      let at = 0
      for (const [i, { literal, name }] of parts.entries()) {
        if (!uri.startsWith(literal, at)) return undefined
        at += literal.length
        if (name === undefined) continue
        const end = endOfValue(uri, at, parts, i)
        const value = end < 0 ? undefined : decode(uri.slice(at, end))
        if (value === undefined || (Object.hasOwn(values, name) && values[name] !== value)) return undefined
        values[name] = value
        at = end
      }
      return at === uri.length ? values : undefined
    },
  }
}

/** Some literal text, then perhaps a variable. */
interface Part {
  readonly literal: string
  readonly name?: string
}

function parse(text: string): readonly Part[] | undefined {
  const parts: Part[] = []
  let at = 0
  for (let open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
    const close = text.indexOf('}', open)
    const name = text.slice(open + 1, close)
    const adjacent = open === at && parts.length > 0
    if (close < 0 || adjacent || !/^\w+$/.test(name) || name === '__proto__') return undefined
    parts.push({ literal: text.slice(at, open), name })
    at = close + 1
  }
  const rest = text.slice(at)
  if (rest.includes('}') || parts.some(({ literal }) => literal.includes('}'))) return undefined
  return [...parts, { literal: rest }]
}

/**
 * Where a variable's value ends. Values are encoded, so a separator is found for sure if it has a character that an
 * encoded value cannot have; one that has none tells nothing.
 */
function endOfValue(uri: string, at: number, parts: readonly Part[], i: number): number {
  const next = parts[i + 1]
  if (next?.name === undefined) return uri.length - (next?.literal.length ?? 0)
  return /[^\w.~%-]/.test(next.literal) ? uri.indexOf(next.literal, at) : -1
}

/** Everything but the unreserved characters of RFC 3986; nothing for a lone surrogate, which has no encoding. */
function encode(value: string): string | undefined {
  return attempt(() =>
    encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
  )
}

function decode(text: string): string | undefined {
  return text === '' || !/^[\w.~%-]*$/.test(text) ? undefined : attempt(() => decodeURIComponent(text))
}

function attempt(make: () => string): string | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
