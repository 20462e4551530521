import { readToken } from '@atrium/adapters/server/token'
import { trusting } from '@atrium/client/shared/check'
import type { Check } from '@atrium/client/shared/check'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import { openSocket } from '@atrium/client/link/websocket'
import { configure } from '../serve/config.ts'
import { findHost } from '../serve/discovery.ts'
import { CommandError, exits, sentenceOf, systemCode } from '../terminal/exit.ts'
import { version } from '../terminal/version.ts'
import { HostSocket } from './host-socket.ts'
import { credentialFor } from './paired-hosts.ts'

/** The host to connect to: the one at a URL, or the one of a data folder on this machine. */
export interface HostOptions {
  readonly host?: string
  readonly tokenFile?: string
  readonly data?: string
}

interface Address {
  readonly url: string
  readonly token?: string
  /** Set if the host runs on this machine: its address comes from `host.json`. */
  readonly local?: true
  /** The process id of a host on this machine. */
  readonly pid?: number
  /** Whether the host runs on this machine and has the same version as this command. */
  readonly sameVersion?: boolean
}

/** Returns a client with a live link; rejects with the cause and the remedy. */
export async function connect(options: HostOptions): Promise<Client> {
  const address = await addressOf(options)
  let first = true
  const client = new Client({
    clientId: newId(),
    versions: ['1.0.0'],
    world,
    check: await checkFor(address),
    // Asks the host for the list of its clients, which `doctor` shows.
    _meta: { 'x-atrium': { clients: true } },
    info: { name: 'atrium-cli', title: 'Atrium command line', version },
    open: async () => {
      // A restarted host may have another port: read its address again.
      const current = first ? address : await addressOf(options)
      first = false
      // The constructor of `ws` behaves like the browser's, but its types differ.
      return openSocket(HostSocket as never, withToken(current))
    },
  }).connect()
  const failed = new Promise<never>((_, reject) => {
    // The client would retry forever. A user at a prompt wants the result of the first attempt.
    const unsubscribe = client.onLink(({ state, reason }) => {
      if (state === 'live') unsubscribe()
      else if (reason !== undefined) reject(unreachable(address, reason, state === 'closed'))
    })
  })
  const patience = setTimeout(() => process.stderr.write(silentHost(address)), silentMs).unref()
  try {
    await Promise.race([client.live(), failed])
    failed.catch(() => {})
    if (address.local) retryEverySecond(client)
    return client
  } catch (error) {
    client.close()
    throw error
  } finally {
    clearTimeout(patience)
  }
}

/** How long a command waits for the first answer of its host before it says what it waits for. */
const silentMs = 5_000

/** Whether the host is named by a URL, and so may run on another machine. */
export function isRemote({ host }: HostOptions, env = process.env): boolean {
  return host !== undefined || Boolean(env['ATRIUM_URL'])
}

/** Returns the address of `--host`, else of `ATRIUM_URL`, else of the host that runs with this data folder. */
export async function addressOf({ host, tokenFile, data }: HostOptions, env = process.env): Promise<Address> {
  const named = host ?? (env['ATRIUM_URL'] || undefined)
  const token = tokenFile === undefined ? env['ATRIUM_TOKEN'] || undefined : await tokenIn(tokenFile)
  if (named !== undefined) {
    const url = checkedUrl(named)
    const given = token ?? (await credentialFor(url, env))
    return { url, ...(given !== undefined && { token: given }) }
  }
  const { settings } = await configure({ ...(data !== undefined && { data }) }, env)
  const found = await findHost(settings.data)
  if (!found) throw new CommandError(`No host runs with ${settings.data}; start one with: atrium serve`)
  const own = token ?? (found.tokenFile === undefined ? undefined : await tokenIn(found.tokenFile))
  return {
    url: found.url,
    local: true,
    pid: found.pid,
    sameVersion: found.version === version,
    ...(own !== undefined && { token: own }),
  }
}

/** Retries at least once a second: on this machine an attempt is cheap, and a user waits. */
function retryEverySecond(client: Client): void {
  client.onLink(({ retryInMs = 0 }) => {
    if (retryInMs > 1_000) setTimeout(() => client.connect(), 1_000).unref()
  })
}

/**
 * Returns the validator for messages of the host. A host of the same version as this command is trusted: loading all schemas
 * takes longer than most commands run.
 */
async function checkFor({ sameVersion }: Address): Promise<Check> {
  return sameVersion ? trusting : (await import('@atrium/client/shared/schemas')).checked
}

function withToken({ url, token }: Address): string {
  if (token === undefined) return url
  const address = new URL(url)
  address.searchParams.set('tkn', token)
  return address.href
}

async function tokenIn(file: string): Promise<string> {
  return readToken(file).catch((error: unknown) => {
    throw systemCode(error) === 'ENOENT'
      ? new CommandError(`There is no ${file}; name a file that holds the token.`)
      : new CommandError(sentenceOf(error))
  })
}

/** Turns a pasted http(s) address into the WebSocket address of the same host. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:') url.protocol = 'ws:'
  if (url?.protocol === 'https:') url.protocol = 'wss:'
  if (url?.protocol === 'ws:' || url?.protocol === 'wss:') return url.href
  throw new CommandError(
    `The address of a host must be a URL like ws://127.0.0.1:7433, and not '${text}'.`,
    exits.usage,
  )
}

/** What a user reads if a host accepts the connection but does not answer. Its process is suspended or very busy. */
function silentHost({ url, pid }: Address): string {
  const named = pid === undefined ? `at ${new URL(url).host}` : `(process ${pid})`
  return `atrium: The host ${named} does not answer yet. This command waits for it; Ctrl-C ends the wait.\n`
}

/** The error for a host that cannot be reached. `final`: the client does not try again. */
function unreachable({ url, local }: Address, reason: string, final: boolean): CommandError {
  const shown = new URL(url)
  shown.search = ''
  if (final && reason.includes('token'))
    return new CommandError(
      `The host at ${shown.href} refuses the token; name the right one with --token-file, or pair this machine: atrium pair`,
      exits.denied,
    )
  if (/response: 421\b/.test(reason))
    return new CommandError(
      `The host at ${shown.href} does not accept this address; start it with: atrium serve --allow-host ${shown.host}`,
    )
  if (final) return new CommandError(`The host at ${shown.href} does not accept this client: ${reason}`)
  if (local)
    return new CommandError(`No host answers at ${shown.href} (${reason}); start one with: atrium serve`)
  return new CommandError(
    `There is no connection to ${shown.href} (${reason}); check the address, and that a host runs there.`,
  )
}
