import type { GitConfig } from './config.ts'

/** Returns the URLs of a repository's remotes, without duplicates and without credentials. */
export function remotesOf(config: GitConfig): readonly string[] {
  const urls = [...config].filter(([key]) => /^remote\.[^]+\.url$/.test(key)).flatMap(([, values]) => values)
  return [...new Set(urls.map(withoutCredentials).filter((url) => url !== undefined))]
}

/** Removes user, password, query and fragment: each may hold a secret. */
function withoutCredentials(url: string): string | undefined {
  // The address of a remote helper (`ext::…`) is a command line, and may hold anything.
  if (/^[\w+-]+::/.test(url)) return undefined
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*:\/\/)([^]*)$/i.exec(url) ?? []
  if (scheme !== undefined && rest !== undefined) {
    const [address = ''] = rest.split(/[?#]/)
    const slash = address.indexOf('/')
    const host = slash < 0 ? address : address.slice(0, slash)
    return `${scheme}${host.slice(host.lastIndexOf('@') + 1)}${slash < 0 ? '' : address.slice(slash)}`
  }
  // The scp form [user@]host:path has a colon before the first slash. A password in it may contain `@`.
  const [head = ''] = url.split('/', 1)
  const [first, colon] = [head.indexOf('@'), head.indexOf(':')]
  if (first < 0 || colon < 0) return url
  return url.slice((colon < first ? head.lastIndexOf('@') : first) + 1)
}
