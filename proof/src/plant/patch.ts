/** A change to a built file that is made while the file is loaded: on the disk it stays as it is. */
export interface Patch {
  /** The end of the file's path, such as `host/dist/log/log.js`. */
  readonly file: string
  /** Stands in it exactly once; else the patch has lost its place, and that is an error. */
  readonly find: string
  readonly put: string
}

/** The file's text with its patches made. */
export function patched(url: string, text: string, patches: readonly Patch[]): string {
  return patches
    .filter(({ file }) => url.endsWith(`/${file}`))
    .reduce((before, { file, find, put }) => {
      const found = before.split(find).length - 1
      if (found !== 1) throw new Error(`${file} has ${found} places that read: ${find}`)
      return before.replace(find, () => put)
    }, text)
}
