/** A change to a built file, made while the file is loaded. The file on the disk does not change. */
export interface Patch {
  /** The end of the file's path, such as `host/dist/log/log.js`. */
  readonly file: string
  /** The text to replace. It must occur exactly once, otherwise applying the patch throws. */
  readonly find: string
  readonly put: string
}

/** Returns the file's text with its patches applied. */
export function patched(url: string, text: string, patches: readonly Patch[]): string {
  return patches
    .filter(({ file }) => url.endsWith(`/${file}`))
    .reduce((before, { file, find, put }) => {
      const found = before.split(find).length - 1
      if (found !== 1) throw new Error(`${file} has ${found} places that read: ${find}`)
      return before.replace(find, () => put)
    }, text)
}
