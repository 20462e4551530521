/**
 * The error for a part of a plugin that cannot be used. The message is a sentence for users. The code that reads the part
 * catches the error and reports it, so that the other parts still work.
 */
export class Unusable extends Error {
  override readonly name = 'Unusable'
}

/** Characters that are not seen, or that make one text look like another: controls, directions, lone surrogates. */
const hidden = /[\p{Cc}\p{Surrogate}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u
const allHidden = new RegExp(hidden, 'gu')

export function hasHidden(text: string): boolean {
  return hidden.test(text)
}

/** Prepares a text of a plugin for a message: hidden characters become escapes, and a long text is cut. */
export function printable(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text
  return cut.replace(allHidden, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`)
}

const longest = 200

/** Converts a text of a plugin to one line, without hidden characters, and cut at the limit. */
export function oneLine(text: string, max: number): string {
  // Only the beginning of a long text is processed, so that a very long text costs no more. Twice the limit leaves
  // room for the blanks and hidden characters that are removed.
  const start = text.slice(0, 2 * max)
  const line = start.replace(/\s+/g, ' ').replace(allHidden, '').trim()
  if (line.length <= max && start.length === text.length) return line
  const cut = line.slice(0, max - 1)
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** Decodes the text of a file. Throws `Unusable` if it is not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Unusable('It is not UTF-8 text.')
  }
}

/**
 * Returns the name without blanks around it. Throws `Unusable` if it cannot be shown to people: it is empty, too
 * long, or has a hidden character.
 */
export function checkedName(name: string, max: number): string {
  const trimmed = name.trim()
  if (trimmed === '') throw new Unusable('Its name is empty.')
  if (hasHidden(trimmed)) throw new Unusable(`Its name has a hidden character: ${printable(trimmed)}`)
  if (trimmed.length > max) throw new Unusable(`Its name is longer than ${max} characters.`)
  return trimmed
}
