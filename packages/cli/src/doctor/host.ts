import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { HostInfo } from '@atrium/client/link/handshake'
import { rootUri } from '@atrium/protocol/uri'
import { loginsOf } from '../link/logins.ts'
import { findHost } from '../serve/discovery.ts'
import type { Settings } from '../serve/config-fields.ts'
import { defaultPort } from '../serve/port.ts'
import { sentenceOf } from '../terminal/exit.ts'
import { addressOf, reach } from '../link/connect.ts'
import type { Whereabouts } from '../link/connect.ts'
import { within } from '../link/with-client.ts'
import { version } from '../terminal/version.ts'
import { onOneLine } from '../terminal/output.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** A host that takes longer to say who it is hangs. */
const answerSeconds = 3

/** The host that is meant, if one runs; else whether one could. */
export async function hostFindings(given: Whereabouts, settings: Settings): Promise<readonly Finding[]> {
  const elsewhere = given.host ?? (process.env['ATRIUM_URL'] || undefined)
  try {
    if (elsewhere === undefined && !(await findHost(settings.data)))
      return [
        warn('host', `none runs with ${settings.data}`, 'start one with: atrium serve'),
        await portFinding(settings),
      ]
  } catch (error) {
    return [fail('host', sentenceOf(error), 'do what it says')]
  }
  try {
    const client = await within(answerSeconds, reach(given), 'The host did not answer')
    const { url } = await addressOf(given)
    try {
      const found = [versionFinding(client, url), numbersFinding(client), ...(await agentFindings(client))]
      return [...found, ...wordFindings(client), ...clientFindings(client), await clockFinding(url)]
    } finally {
      client.close()
    }
  } catch (error) {
    return [
      fail('host', sentenceOf(error), 'see what it says of itself where it was started, or start it again'),
    ]
  }
}

/** What a host said of itself when it was greeted. */
type Greeted = {
  readonly host: Pick<HostInfo, 'serverInfo' | 'protocolVersion' | 'serverSeq'> | undefined
}

export function versionFinding({ host }: Greeted, url: string): Finding {
  const { serverInfo, protocolVersion } = host ?? {}
  const other = serverInfo?.version
  const detail = `${serverInfo?.name ?? 'a host'} ${other ?? ''} at ${bare(url)}, AHP ${protocolVersion}`
  if (serverInfo?.name !== 'atrium' || other === version) return ok('host', detail)
  return warn(
    'host',
    `${detail}, and this command is ${version}`,
    'start the host again, so that both are the same',
  )
}

/** Numbers begin above the clock's microseconds at each start. If they are ahead of the clock, it was set back since. */
export function numbersFinding({ host }: Greeted, now = Date.now()): Finding {
  const ahead = Math.round(((host?.serverSeq ?? 0) / 1000 - now) / 1000)
  if (ahead < 60) return ok('numbers', `the last one is ${host?.serverSeq ?? 0}`)
  return warn('numbers', `they are ${ahead} s ahead of the clock`, 'nothing is lost; set the clock right')
}

async function agentFindings(client: Client): Promise<readonly Finding[]> {
  const { agents } = await client.subscribe('root', rootUri).ready()
  if (agents.length === 0) return [warn('agents', 'there are none', 'see how the host was started')]
  return agents.map((agent) => {
    const logins = loginsOf(agent)
    const detail = `${agent.provider}, with ${agent.models.length} models`
    return logins.length === 0
      ? ok('agent', detail)
      : warn('agent', `${detail}; it wants a login for ${logins.join(', ')}`, 'sign in from a client')
  })
}

/** What agents said last beside their work, where the host tells: there stands why one does not work. */
export function wordFindings({
  host,
}: {
  readonly host: Pick<HostInfo, '_meta'> | undefined
}): readonly Finding[] {
  const own = host?._meta?.['x-atrium'] as { readonly agents?: readonly Spoken[] } | undefined
  return (own?.agents ?? []).map(({ provider = '', lastWords = [] }) =>
    ok(provider, ['it said last:', ...lastWords.map((line) => `  ${onOneLine(line)}`)].join('\n')),
  )
}

interface Spoken {
  readonly provider?: string
  readonly lastWords?: readonly string[]
}

/** Who else is connected, where the host tells; this command is one of them. */
export function clientFindings({
  host,
}: {
  readonly host: Pick<HostInfo, '_meta'> | undefined
}): readonly Finding[] {
  const own = host?._meta?.['x-atrium'] as { readonly clients?: readonly Present[] } | undefined
  return (own?.clients ?? []).map(
    ({ title, name = 'without a name', version: build = '', protocolVersion }) =>
      ok('client', `${title ?? name} ${build}, AHP ${protocolVersion}`),
  )
}

interface Present {
  readonly name?: string
  readonly title?: string
  readonly version?: string
  readonly protocolVersion: string
}

/** The protocol has no time of day in it; the door of a host says one with every answer. */
async function clockFinding(url: string): Promise<Finding> {
  const door = new URL('/healthz', url.replace(/^ws/, 'http'))
  const asked = Date.now()
  const answer = await fetch(door, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined)
  const said = Date.parse(answer?.headers.get('date') ?? '')
  if (Number.isNaN(said))
    return warn('clock', 'the host does not say what time it has', 'compare them by hand')
  // It is said in whole seconds.
  const apart = Math.max(0, Math.abs(said - asked) - 1_000 - (Date.now() - asked))
  const seconds = Math.round(apart / 1000)
  return seconds < 5
    ? ok('clock', 'the host has the same time')
    : warn('clock', `the host is ${seconds} s away from this machine`, 'set both clocks by the network')
}

/** Whether the port that a start would take is free. */
async function portFinding({ port, socket, data }: Settings): Promise<Finding> {
  if (socket !== undefined) return ok('port', `none; it would listen on ${socket}`)
  const last = Number(await readFile(join(data, 'port'), 'utf8').catch(() => ''))
  const wanted = port ?? (last > 0 && last < 65536 ? last : defaultPort)
  const free = await isFree(wanted)
  if (free) return ok('port', `${wanted} is free`)
  return port === undefined
    ? warn(
        'port',
        `${wanted} is taken by another program`,
        'a start takes another one; or name one with --port',
      )
    : fail('port', `${wanted} is taken by another program`, 'choose another with --port')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function bare(url: string): string {
  const address = new URL(url)
  address.search = ''
  return address.href
}
