/**
 * Returns a text without the characters that people do not see: escape sequences of terminals, control characters,
 * bidirectional controls, zero-width characters, tags, variation selectors, private characters and lone surrogates. Text
 * of a foreign program could use them to show people something else than what a model reads. Line breaks and tabs stay.
 */
export function visibleText(text: string): string {
  // Nearly every text has only printable ASCII characters.
  if (/^[\t\n -~]*$/.test(text)) return text
  return text.replace(escapeSequence, '').replace(lineBreak, '\n').replace(hidden, '')
}

/** Returns a JSON value with `visibleText` applied to its texts and keys. The caller has limited the depth of the value. */
export function visibleJson(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value)
  if (Array.isArray(value)) return value.map(visibleJson)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, each]) =>
    // `__proto__` is removed, because code that copies the value would set the prototype of the copy.
    key === '__proto__' ? [] : [[visibleText(key), visibleJson(each)] as const],
  )
  return Object.fromEntries(entries)
}

/** Matches a control sequence, a string sequence such as an operating system command, or a short escape sequence. */
const escapeSequence =
  // oxlint-disable-next-line no-control-regex
  /[\u001b][[][0-?]*[ -/]*[@-~]|\u009b[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]/g

const lineBreak = /\r\n?|[\u2028\u2029]/g

/**
 * Matches hidden characters. The single characters at the end of the expression are invisible, although Unicode
 * defines them as letters or marks.
 */
const hidden =
  /(?![\t\n])(?:[\p{Cc}\p{Cf}\p{Cs}\p{Co}]|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0)/gu
