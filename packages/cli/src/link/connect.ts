import { readToken } from '@atrium/adapters/server/token'
import { trusting } from '@atrium/client/shared/check'
import type { Check } from '@atrium/client/shared/check'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import { openSocket } from '@atrium/client/link/websocket'
import { WebSocket } from 'ws'
import { configure } from '../serve/config.ts'
import { findHost } from '../serve/discovery.ts'
import { Problem, exits, sentenceOf } from '../terminal/exit.ts'
import { version } from '../terminal/version.ts'

/** Which host is meant: one at a URL, or the one of a data folder on this machine. */
export interface Whereabouts {
  readonly host?: string
  readonly tokenFile?: string
  readonly data?: string
}

interface Address {
  readonly url: string
  readonly token?: string
  /** It says where it is in a file on this machine. */
  readonly near?: true
  /** It runs on this machine, from the same build. */
  readonly kin?: boolean
}

/** A client with a live link, or a sentence that says why there is none and what to do. */
export async function reach(given: Whereabouts): Promise<Client> {
  const address = await addressOf(given)
  let fresh = true
  const client = new Client({
    clientId: newId(),
    versions: ['1.0.0'],
    world,
    check: await checkFor(address),
    // For `doctor`, and for whoever attaches.
    _meta: { 'x-atrium': { clients: true } },
    info: { name: 'atrium-cli', title: 'Atrium command line', version },
    open: async () => {
      // A host that comes back may be somewhere else, and says so where the first one did.
      const now = fresh ? address : await addressOf(given)
      fresh = false
      return openSocket(WebSocket as never, withToken(now))
    },
  }).connect()
  const failed = new Promise<never>((_, reject) => {
    // The first attempt decides: whoever waits at a prompt wants to know.
    const end = client.onLink(({ state, reason }) => {
      if (state === 'live') end()
      else if (reason !== undefined) reject(unreachable(address, reason, state === 'closed'))
    })
  })
  try {
    await Promise.race([client.live(), failed])
    failed.catch(() => {})
    if (address.near) hasten(client)
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

/** `--host`, then `ATRIUM_URL`, then the host that runs on this machine with this data folder. */
export async function addressOf({ host, tokenFile, data }: Whereabouts, env = process.env): Promise<Address> {
  const named = host ?? (env['ATRIUM_URL'] || undefined)
  const token = tokenFile === undefined ? env['ATRIUM_TOKEN'] || undefined : await tokenIn(tokenFile)
  if (named !== undefined) return { url: checkedUrl(named), ...(token !== undefined && { token }) }
  const { settings } = await configure({ ...(data !== undefined && { data }) }, env)
  const found = await findHost(settings.data)
  if (!found) throw new Problem(`No host runs with ${settings.data}; start one with: atrium serve`)
  const own = token ?? (found.tokenFile === undefined ? undefined : await tokenIn(found.tokenFile))
  return {
    url: found.url,
    near: true,
    kin: found.version === version,
    ...(own !== undefined && { token: own }),
  }
}

/** Whether a host is back on this machine costs next to nothing to find out, and somebody waits for it. */
function hasten(client: Client): void {
  client.onLink(({ retryInMs = 0 }) => {
    if (retryInMs > 1_000) setTimeout(() => client.connect(), 1_000).unref()
  })
}

/** Every shape is known, and takes longer to load than most commands run: one's own host is believed. */
async function checkFor({ kin }: Address): Promise<Check> {
  return kin ? trusting : (await import('@atrium/client/shared/schemas')).checked
}

function withToken({ url, token }: Address): string {
  if (token === undefined) return url
  const address = new URL(url)
  address.searchParams.set('tkn', token)
  return address.href
}

async function tokenIn(file: string): Promise<string> {
  return readToken(file).catch((error: unknown) => {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new Problem(missing ? `There is no ${file}; name a file that holds the token.` : sentenceOf(error))
  })
}

/** People paste what they see: a page's address means the host behind it. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:') url.protocol = 'ws:'
  if (url?.protocol === 'https:') url.protocol = 'wss:'
  if (url?.protocol === 'ws:' || url?.protocol === 'wss:') return url.href
  throw new Problem(`--host must be a URL like ws://127.0.0.1:7433, and not '${text}'.`, exits.usage)
}

function unreachable({ url }: Address, reason: string, final: boolean): Problem {
  const shown = new URL(url)
  shown.search = ''
  if (final && reason.includes('token'))
    return new Problem(
      `The host at ${shown.href} refuses the token; name the right one with --token-file.`,
      exits.denied,
    )
  if (final) return new Problem(`The host at ${shown.href} cannot be talked to: ${reason}`)
  return new Problem(`No host answers at ${shown.href} (${reason}); start one with: atrium serve`)
}
