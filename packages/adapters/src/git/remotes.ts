import type { GitConfig } from './config.ts'

/** Where the remotes of a repository are, each once, and without what lets somebody in. */
export function remotesOf(config: GitConfig): readonly string[] {
  const urls = [...config].filter(([key]) => /^remote\.[^]+\.url$/.test(key)).flatMap(([, values]) => values)
  return [...new Set(urls.map(withoutCredentials).filter((url) => url !== undefined))]
}

/** What a URL says after `?` may let somebody in, too. */
function withoutCredentials(url: string): string | undefined {
  // A helper's address is a command of somebody else's.
  if (/^[\w+-]+::/.test(url)) return undefined
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*:\/\/)([^]*)$/i.exec(url) ?? []
  if (scheme !== undefined && rest !== undefined) {
    const [address = ''] = rest.split(/[?#]/)
    const slash = address.indexOf('/')
    const host = slash < 0 ? address : address.slice(0, slash)
    return `${scheme}${host.slice(host.lastIndexOf('@') + 1)}${slash < 0 ? '' : address.slice(slash)}`
  }
  // Or [user@]host:path, where a colon stands before any slash. What looks like a password may have an @ in it.
  const [head = ''] = url.split('/', 1)
  const [first, colon] = [head.indexOf('@'), head.indexOf(':')]
  if (first < 0 || colon < 0) return url
  return url.slice((colon < first ? head.lastIndexOf('@') : first) + 1)
}
