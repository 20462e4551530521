import { addressOf, isRemote } from '../../link/connect.ts'
import type { HostOptions } from '../../link/connect.ts'
import { qrCode } from './qr-code.ts'
import { isLoopback, isWildcard } from '../../serve/reachable-url.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly phone?: boolean
}

/** `atrium web`: prints a link to the host's web page. The code in the link lets one browser in. */
export async function web(flags: Flags): Promise<void> {
  const { print, note, coloured } = output(flags)
  const { url, token } = await addressOf(flags)
  const page = pageUrl(url)
  if (flags.phone) expectReachable(page)
  const link = token === undefined ? page.href : `${page.href}#code=${await newCode(page, token)}`
  print({ url: link }, () => (flags.phone ? `${qrCode(link, coloured)}\n${link}` : link))
  if (token !== undefined && flags.phone) note('The code lets one browser in, once, within ten minutes.')
  if (token === undefined && isRemote(flags))
    note(
      'This link has no code, because no token is known here. If the host has one, name it with --token-file.',
    )
}

/**
 * Throws if a phone cannot open the page: the address is one of this machine only, the host has no name, or there is
 * no TLS.
 */
function expectReachable(page: URL): void {
  const how = 'docs/remote.md shows three ways; then run: atrium web --phone --host wss://NAME'
  if (isLoopback(page))
    throw new CommandError(`A phone cannot reach ${page.hostname}, which is this machine alone. ${how}`)
  if (isWildcard(page))
    throw new CommandError(
      'The host listens on all addresses and has no name; start it with --allow-host NAME, the name of its certificate.',
    )
  if (page.protocol !== 'https:') throw new CommandError(`The page of a phone needs TLS. ${how}`)
}

function pageUrl(url: string): URL {
  if (!/^wss?:\/\//.test(url))
    throw new CommandError(
      'This host listens on a unix socket, which no browser can open; start it without --socket.',
    )
  const page = new URL(url.replace(/^ws/, 'http'))
  page.search = ''
  page.pathname = '/'
  return page
}

/** Asks the host for a code. The code is in the fragment of the link, which browsers send to nobody. */
async function newCode(page: URL, token: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-atrium': 'enter',
  }
  const response = await fetch(new URL('/enter/code', page), { method: 'POST', headers, body: '{}' }).catch(
    () => undefined,
  )
  if (!response) throw new CommandError(`No host answers at ${page.href}; start one with: atrium serve`)
  if (response.status === 404)
    throw new CommandError(
      `The host at ${page.href} serves no web page; see its settings: --no-web, ATRIUM_WEB, or web in its config.`,
    )
  if (response.status === 403 || response.status === 429)
    throw new CommandError(
      `The host at ${page.href} gives no link for this token; use the token of the host, or a device with the role own.`,
      exits.denied,
    )
  // The cast only names the fields: an answer with neither of them is reported below.
  const { code, problem } = (await response.json()) as { readonly code?: unknown; readonly problem?: unknown }
  if (typeof code === 'string') return code
  if (response.status === 409 && typeof problem === 'string')
    throw new CommandError(`${onOneLine(problem)}.`, exits.denied)
  throw new CommandError(`The host at ${page.href} gave no code (status ${response.status}).`)
}
