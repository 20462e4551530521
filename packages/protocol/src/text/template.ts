/**
 * URI templates as AHP uses them: literal text and `{name}`, and nothing else of RFC 6570. Parsing and matching take
 * linear time for every template and URI.
 */
export interface Template {
  readonly variables: readonly string[]
  /** Returns `undefined` when a variable has no value or an empty one. */
  expand(values: { readonly [name: string]: string }): string | undefined
  /** Returns the values that expand to this URI, or `undefined` if there are none. */
  match(uri: string): { readonly [name: string]: string } | undefined
}

/** Parses a template. Returns `undefined` when it is malformed or uses an unsupported form. */
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

/** Literal text, and the variable after it, if there is one. */
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
 * The end of a variable's value in a URI, or -1. A separator marks the end only if it has a character that an encoded
 * value cannot have. Any other separator could be part of the value, so the URI is ambiguous and does not match.
 */
function endOfValue(uri: string, at: number, parts: readonly Part[], i: number): number {
  const next = parts[i + 1]
  if (next?.name === undefined) return uri.length - (next?.literal.length ?? 0)
  return /[^\w.~%-]/.test(next.literal) ? uri.indexOf(next.literal, at) : -1
}

/** Encodes all but the unreserved characters of RFC 3986. Returns `undefined` for a lone surrogate. */
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
