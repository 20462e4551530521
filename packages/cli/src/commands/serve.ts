import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { OAuthAuthorizer } from '@atrium/adapters/oauth'
import { exposureProblem } from '@atrium/adapters/server/address'
import type { TlsCertificate } from '@atrium/adapters/server/address'
import { listen } from '@atrium/adapters/server'
import type { Listening, PageOptions } from '@atrium/adapters/server'
import { privateFolder, readToken, tokenOf, tokenPath } from '@atrium/adapters/server/token'
import { nodeWorld } from '@atrium/adapters/process/world'
import { AhpError } from '@atrium/protocol/errors'
import { AgentSet } from '../serve/agents.ts'
import { banner, quietBanner, readyLine } from '../serve/banner.ts'
import type { Announcement } from '../serve/banner.ts'
import { configure } from '../serve/config.ts'
import type { Flags } from '../serve/config.ts'
import type { Settings } from '../serve/config-fields.ts'
import { announceHost, withdrawHost } from '../serve/discovery.ts'
import { openLog, toStderr } from '../serve/log-file.ts'
import { LogLines } from '../serve/telemetry/log-lines.ts'
import { metricsText } from '../serve/metrics/metrics.ts'
import { notifierOf } from '../serve/notifier.ts'
import { pageFolder } from '../serve/page-folder.ts'
import { findPort } from '../serve/port.ts'
import { reachableUrl } from '../serve/reachable-url.ts'
import { openHost } from '../serve/open-host.ts'
import { nodeProcesses, readPlace } from '../serve/postgres.ts'
import { unlessFull } from '../serve/store.ts'
import { telemetryOf } from '../serve/telemetry/port.ts'
import { CommandError } from '../terminal/exit.ts'
import { stopSignal } from '../serve/shutdown.ts'
import { version } from '../terminal/version.ts'

/** `atrium serve`: with `openHost`, the composition root, the only place that joins the host with its adapters. */
export async function serve(flags: Flags, json: boolean): Promise<void> {
  const { settings, warnings } = await configure(flags, process.env)
  // Agents and shells inherit the environment of the host, and must not see the token.
  delete process.env['ATRIUM_TOKEN']
  const token = await unlessFull(settings.data, async () => {
    await privateFolder(settings.data)
    return chooseToken(settings)
  })
  const tls = await readCertificate(settings)
  // The server refuses an unsafe address, too. The check here comes before the store is opened.
  const exposed = exposureProblem(settings, tls !== undefined, token !== undefined)
  if (exposed !== undefined) throw new CommandError(exposed)
  const level = settings.logLevel ?? (process.stderr.isTTY ? 'warn' : 'info')
  const place = settings.store === undefined ? undefined : await readPlace(settings.store, process.env)
  const secrets = [token, place?.config.password].flatMap((secret) => secret || [])
  const lines = new LogLines()
  const log = openLog(level, secrets, (line) => {
    toStderr(line)
    lines.write(line)
  })
  const fault = (err: unknown) => log.fatal({ err }, 'ended by a fault')
  process.prependListener('uncaughtException', fault).prependListener('unhandledRejection', fault)
  for (const warning of [...warnings, ...securityWarnings(flags, settings)]) log.warn(warning)

  const world = nodeWorld((event, detail) =>
    log.warn(detail instanceof Error ? { err: detail } : { detail }, event),
  )
  // A host that only reads a database is no node of it.
  const node = place && !settings.readOnly ? await nodeProcesses(settings) : undefined
  const agentSet = new AgentSet(settings, world, process.env, node?.processes)
  const telemetry = () => telemetryOf(lines, log, world, process.env)
  // The address of the page is known once the host listens.
  const known: { page?: string | undefined; url?: string } = {}
  const notifier = () => notifierOf(settings, log, () => known.page)
  const authorizer = settings.readOnly
    ? undefined
    : await OAuthAuthorizer.open({
        later: world.later,
        file: join(settings.data, 'sign-ins'),
        address: () => known.url?.replace(/^ws(?=s?:)/, 'http'),
      })
  const where = place?.name ?? settings.data
  const address = addressOf(settings, tls !== undefined)
  const host = await unlessFull(where, () =>
    openHost({ settings, log, world, agentSet, notifier, telemetry, authorizer, place, node, url: address }),
  )
  let stopping = false
  const { listening, notes } = await findPort(settings, (port) =>
    listen({
      host: settings.host,
      socket: settings.socket,
      port,
      token,
      tls,
      allowOrigins: settings.allowOrigin,
      allowHosts: settings.allowHost,
      page: pageOf(settings),
      ready: () => !stopping && host.ready(),
      role: host.role,
      trouble: host.trouble,
      connect: (transport, principal, device) => host.connect(transport, principal, device),
      devices: host.devices,
      signedIn: authorizer && ((params) => authorizer.complete(params)),
      metrics: () => metricsText(host.metrics()),
      report: (event, detail) => log.info({ detail }, event),
    }),
  ).catch(async (error: unknown) => {
    await host.close()
    await agentSet.close()
    throw error
  })
  const stopped = stopSignal()
  agentSet.watch(host)
  // `host.json` is written before the banner, so that a command that a program starts after the banner finds the
  // host.
  const tokenFile = tokenFileOf(settings)
  const url = reachableUrl(listening.url, settings.allowHost)
  known.url = url
  known.page = listening.pageUrl && url.replace(/^ws/, 'http')
  const hostFile = { url, pid: process.pid, version, ...(tokenFile !== undefined && { tokenFile }) }
  if (!settings.readOnly)
    await announceHost(settings.data, hostFile).catch((error: unknown) =>
      log.warn({ err: error }, 'unannounced'),
    )
  // The link for a terminal has a code that lets a browser in. A pipe or a file would keep the code, so it gets none. A standby lets
  // nobody in.
  const linked = !json && process.stdout.isTTY && host.ready()
  const { page, problems } = linked ? linkOf(listening) : { page: listening.pageUrl, problems: [] }
  printBanner({ version, url, token, tokenFile, page, notes: [...notes, ...problems] }, json)
  log.info({ urls: listening.urls, data: settings.data }, 'listening')

  const signal = await stopped
  stopping = true
  log.info({ signal }, 'stopping')
  await withdrawHost(settings.data, process.pid)
  // The server stops listening and waits until the host has closed all connections.
  await Promise.all([listening.close(), host.close()])
  await agentSet.close()
  log.info('stopped')
}

/** The address of the host, if its settings name the port. With port 0, the system chooses one when the host listens. */
function addressOf({ host = '127.0.0.1', port = 0, socket, allowHost }: Settings, tls: boolean) {
  if (port === 0 || socket !== undefined) return undefined
  const name = host.includes(':') ? `[${host}]` : host
  return reachableUrl(`${tls ? 'wss' : 'ws'}://${name}:${port}/`, allowHost)
}

/** The web page, if it is built and wanted. */
function pageOf({ web = true }: Settings): PageOptions | undefined {
  const folder = web ? pageFolder() : undefined
  return folder === undefined ? undefined : { folder }
}

async function chooseToken(settings: Settings): Promise<string | undefined> {
  const { connectionToken, connectionTokenFile: file, withoutConnectionToken, data } = settings
  if (withoutConnectionToken) return undefined
  if (connectionToken !== undefined) return connectionToken
  return file === undefined ? tokenOf(data) : readToken(file).catch(ifMissing(file))
}

/** Returns the link to the page. If no further browser can enter, the link has no code, and a note says why. */
function linkOf({ pageLink, pageUrl }: Listening) {
  try {
    return { page: pageLink(), problems: [] }
  } catch (error) {
    if (!(error instanceof AhpError)) throw error
    return { page: pageUrl, problems: [`No further browser can enter: ${error.message}.`] }
  }
}

function tokenFileOf({
  connectionToken,
  connectionTokenFile,
  withoutConnectionToken,
  data,
}: Settings): string | undefined {
  if (withoutConnectionToken || connectionToken !== undefined) return undefined
  return connectionTokenFile === undefined ? tokenPath(data) : resolve(connectionTokenFile)
}

async function readCertificate({ tlsCert, tlsKey }: Settings): Promise<TlsCertificate | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  const read = (path: string) => readFile(path).catch(ifMissing(path))
  return { cert: await read(tlsCert), key: await read(tlsKey) }
}

function ifMissing(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw error.code === 'ENOENT'
      ? new CommandError(`There is no ${path}; name a file that is there.`)
      : error
  }
}

function securityWarnings(flags: Flags, settings: Settings): readonly string[] {
  return [
    flags.connectionToken === undefined
      ? []
      : ['Everybody on this machine can read --connection-token; use --connection-token-file.'],
    settings.withoutConnectionToken ? ['There is no token: every program on this machine may connect.'] : [],
  ].flat()
}

function printBanner(announcement: Announcement, json: boolean): void {
  const format = json ? readyLine : process.stdout.isTTY ? banner : quietBanner
  process.stdout.write(format(announcement))
}
