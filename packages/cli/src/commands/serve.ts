import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { exposureProblem } from '@atrium/adapters/server/address'
import type { TlsCertificate } from '@atrium/adapters/server/address'
import { listen } from '@atrium/adapters/server'
import type { PageOptions } from '@atrium/adapters/server'
import { threadEncoder } from '@atrium/adapters/content'
import { hookRunner } from '@atrium/adapters/hooks'
import { McpPool } from '@atrium/adapters/mcp'
import { nodeFiles } from '@atrium/adapters/files'
import { sqliteSearch } from '@atrium/adapters/search/sqlite'
import { ptyTerminals } from '@atrium/adapters/terminals'
import { gitVcs } from '@atrium/adapters/git'
import { gitCommits } from '@atrium/adapters/git/commits'
import { gitCaptures } from '@atrium/adapters/captures'
import { gitWorktrees, treesOf } from '@atrium/adapters/worktrees'
import { fileUri } from '@atrium/protocol/file-uri'
import type { LimitValues } from '@atrium/protocol/limits'
import { privateFolder, readToken, tokenOf, tokenPath } from '@atrium/adapters/server/token'
import { nodeWorld } from '@atrium/adapters/process/world'
import type { Host } from '@atrium/host'
import type { Notifier } from '@atrium/host/ports/notifier'
import type { World } from '@atrium/host/ports/world'
import type { Logger } from 'pino'
import { AgentSet } from '../serve/agents.ts'
import { banner, quietBanner, readyLine } from '../serve/banner.ts'
import type { Announcement } from '../serve/banner.ts'
import { configure } from '../serve/config.ts'
import type { Flags } from '../serve/config.ts'
import type { Settings } from '../serve/config-fields.ts'
import { announceHost, withdrawHost } from '../serve/discovery.ts'
import { openLog } from '../serve/log-file.ts'
import { notifierOf } from '../serve/notifier.ts'
import { pageFolder } from '../serve/page-folder.ts'
import { pluginCopies } from '../serve/plugin-copies.ts'
import { findPort } from '../serve/port.ts'
import { reachableUrl } from '../serve/reachable-url.ts'
import { lossIn, openStore, unlessFull } from '../serve/store.ts'
import { CommandError, sentenceOf } from '../terminal/exit.ts'
import { stopSignal } from '../serve/shutdown.ts'
import { version } from '../terminal/version.ts'

/** `atrium serve`: the composition root, the only place that joins the host with its adapters. */
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
  const log = openLog(level, token === undefined ? [] : [token])
  for (const warning of [...warnings, ...securityWarnings(flags, settings)]) log.warn(warning)

  const world = nodeWorld((event, detail) =>
    log.warn(detail instanceof Error ? { err: detail } : { detail }, event),
  )
  const agentSet = new AgentSet(settings, world, process.env)
  // The address of the page is known once the host listens.
  const known: { page?: string | undefined } = {}
  const push = await notifierOf(settings, log, () => known.page)
  const host = await unlessFull(settings.data, () => openHost(settings, log, world, { agentSet, push }))
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
      ready: () => !stopping,
      connect: (transport, principal, device) => host.connect(transport, principal, device),
      devices: host.devices,
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
  known.page = listening.pageUrl && url.replace(/^ws/, 'http')
  const address = { url, pid: process.pid, version }
  const hostFile = { ...address, ...(tokenFile !== undefined && { tokenFile }) }
  if (!settings.readOnly)
    await announceHost(settings.data, hostFile).catch((error: unknown) =>
      log.warn({ err: error }, 'unannounced'),
    )
  // The link for a terminal has a code that lets a browser in. A pipe or a file would keep the code, so it gets none.
  const page = json || !process.stdout.isTTY ? listening.pageUrl : listening.pageLink()
  printBanner({ version, url, token, page, notes }, json)
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

/** The parts of the host that its settings do not contain: its agents, and the notifier that reaches people. */
interface Given {
  readonly agentSet: AgentSet
  readonly push: Notifier | undefined
}

async function openHost(
  settings: Settings,
  log: Logger,
  world: World,
  { agentSet, push }: Given,
): Promise<Host> {
  // The store opens in its worker thread while this thread loads the host.
  const [{ store, readOnly, warning }, { createHost }, { agents }] = await Promise.all([
    openStore(settings),
    import('@atrium/host'),
    agentSet.open(),
  ])
  if (warning !== undefined) log.warn(warning)
  const loss = lossIn(settings.data, store)
  if (loss !== undefined) {
    log.error(loss)
    process.stderr.write(`atrium: ${loss} Clients are told.\n`)
  }
  const worktrees = join(settings.data, 'worktrees')
  const rebuilt = (reason: string) => log.warn({ detail: reason }, 'search index rebuilt')
  // A read-only host cannot make a search index: it uses the one that is there, if any.
  const hasIndex = readOnly === undefined || existsSync(join(settings.data, 'search.db'))
  return createHost({
    store,
    world,
    agents,
    // No client and no agent may touch the files of the host, above all its token.
    files: nodeFiles({ forbidden: [settings.data], permitted: [treesOf(worktrees)] }),
    encoder: threadEncoder(),
    terminals: ptyTerminals(),
    vcs: gitVcs(),
    ...(hasIndex && {
      search: sqliteSearch(settings.data, { readOnly: readOnly !== undefined, rebuilt }),
    }),
    ...(readOnly === undefined && {
      ...(settings.captures !== false && {
        captures: gitCaptures({ folder: join(settings.data, 'captures') }),
      }),
      commits: gitCommits({ folder: join(settings.data, 'commits') }),
    }),
    limits: captureLimits(settings),
    notifier: push,
    worktrees: gitWorktrees({ folder: worktrees, forbidden: [settings.data] }),
    hooks: hookRunner({ ...agentSet.processes, environment: process.env }),
    mcp: new McpPool({ ...agentSet.processes, later: world.later, environment: process.env, version }),
    customizations: {
      hash,
      home: resolve(homedir()),
      servers: settings.mcpServers ?? {},
      ...(readOnly === undefined && { copies: await pluginCopies(join(settings.data, 'plugin-copies')) }),
      dataOf: (id) => join(settings.data, 'plugins', hash(id).slice(0, 32)),
    },
    defaultDirectory: fileUri(resolve(settings.defaultDirectory ?? homedir())),
    ...(readOnly !== undefined && { readOnly }),
    info: { name: 'atrium', version },
    build: `atrium ${version}`,
    // Continuing could lose more data. The next start recovers from what is on disk.
    fatal: (error) => {
      process.stderr.write(`atrium: The store in ${settings.data} failed: ${sentenceOf(error)}\n`)
      process.exit(1)
    },
  })
}

/** The web page, if it is built and wanted. */
function pageOf({ web = true }: Settings): PageOptions | undefined {
  const folder = web ? pageFolder() : undefined
  return folder === undefined ? undefined : { folder }
}

/** The limits, in bytes, for the saved contents of files that turns change. Absent if the user has not set them. */
function captureLimits({ captures }: Settings): Partial<LimitValues> {
  const { sessionMb, allMb } = captures || {}
  return {
    ...(sessionMb !== undefined && { sessionCaptureBytes: Math.round(sessionMb * MiB) }),
    ...(allMb !== undefined && { allCaptureBytes: Math.round(allMb * MiB) }),
  }
}

const MiB = 1024 * 1024

/** The digest of a plugin or its programs. A user's consent applies only as long as the digest stays the same. */
function hash(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex')
}

async function chooseToken(settings: Settings): Promise<string | undefined> {
  const { connectionToken, connectionTokenFile: file, withoutConnectionToken, data } = settings
  if (withoutConnectionToken) return undefined
  if (connectionToken !== undefined) return connectionToken
  return file === undefined ? tokenOf(data) : readToken(file).catch(ifMissing(file))
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
