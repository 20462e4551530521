/** An address of this machine that a program has printed. */
export interface Address {
  /** What a browser opens. */
  readonly url: string
  /** Where the program should listen. */
  readonly host: string
  readonly port: number
}

/**
 * Finds the addresses of this machine in a line of plain text. `0.0.0.0` and `[::]` stand for all addresses of the machine; a browser
 * needs one of them, which is then the loopback address.
 */
export function addressesIn(line: string): readonly Address[] {
  return [...line.matchAll(address)].flatMap(([, scheme = '', name = '', digits, rest = '']) => {
    const secure = scheme.toLowerCase() === 'https'
    const port = digits === undefined ? (secure ? 443 : 80) : Number(digits)
    if (port < 1 || port > 65_535) return []
    const shown = everywhere.get(name) ?? name.toLowerCase()
    const place = digits === undefined ? shown : `${shown}:${digits}`
    const path = rest.replace(/[.,;:!?)\]]+$/, '')
    return [{ url: `${secure ? 'https' : 'http'}://${place}${path}`, host: listenerOf(shown), port }]
  })
}

/** Names below `localhost` are this machine for browsers (RFC 6761), but not for every resolver. */
function listenerOf(name: string): string {
  if (name.endsWith('localhost')) return 'localhost'
  return name.replace(/[[\]]/g, '')
}

const everywhere: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['[::]', '[::1]'],
])

/** An address without a user: what follows the host is its port, its path, or no part of the address. */
const address =
  /\b(https?):\/\/((?:[a-z0-9-]{1,63}\.){0,4}localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])(?::(\d{1,5}))?(?![\w@:-]|\.\w)([/?#][\w\-.~:/?#[\]@!$&()*+,;=%]*)?/gi
