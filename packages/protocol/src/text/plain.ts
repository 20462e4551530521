/**
 * Prepares an untrusted text for a model or a person to read. Removes control characters except newline and tab, characters
 * that nobody sees, and characters that change the direction of writing. Such characters could hide instructions. A text
 * that is too long is cut, and ends with `…`.
 */
export function plainText(text: string, maxLength: number): string {
  // The text may be much longer than `maxLength`, so it is cut before hidden characters are removed. Twice `maxLength` is
  // kept, because up to half of it may be hidden characters.
  const visible = text
    .slice(0, 2 * maxLength)
    .replaceAll(hidden, '')
    .trim()
  if (visible.length <= maxLength) return visible
  // The cut must not leave one half of a surrogate pair.
  return `${visible.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Like `plainText`, but on one line, for a title or a name. */
export function plainLine(text: string, maxLength: number): string {
  return plainText(text.slice(0, 2 * maxLength).replaceAll(/\s+/g, ' '), maxLength)
}

const hidden = /[^\P{Cc}\n\t]|[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Surrogate}]/gu
