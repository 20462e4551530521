/** Characters that reorder or hide the text around them, or that cannot be seen. Code with them reads differently from what it is. */
const hiding =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/**
 * A text in which characters that hide or reorder others are replaced by their code points. For code, commands and
 * differences, which people approve by reading.
 */
export function withVisibleControls(text: string): string {
  return text.replaceAll(hiding, codePoint)
}

/** A text in which the characters that reorder all that follows are replaced. Other marks of direction belong to languages. */
export function withoutOverrides(text: string): string {
  return text.replaceAll(/[\u202d\u202e]/g, codePoint)
}

const codePoint = (each: string) => `⟨U+${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
