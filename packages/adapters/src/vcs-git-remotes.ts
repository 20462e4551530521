import type { GitConfig } from './vcs-git-config.ts'

/** Where the remotes of a repository are, each once, and without what lets somebody in. */
export function remotesOf(config: GitConfig): readonly string[] {
  const urls = [...config].filter(([key]) => /^remote\.[^]+\.url$/.test(key)).flatMap(([, values]) => values)
  return [...new Set(urls.map(withoutCredentials).filter((url) => url !== undefined))]
}

/** In `user:password@host:path` too, which is no URL. What a URL may say after `?` may be a token. */
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
  const colon = url.indexOf(':', url.lastIndexOf('@', url.indexOf('/') < 0 ? undefined : url.indexOf('/')) + 1)
  const host = colon < 0 ? '' : url.slice(0, colon)
  return host.includes('@') ? url.slice(host.lastIndexOf('@') + 1) : url
}
