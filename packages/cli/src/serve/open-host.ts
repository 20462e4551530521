import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { gitCaptures } from '@atrium/adapters/captures'
import { threadEncoder } from '@atrium/adapters/content'
import { nodeFiles } from '@atrium/adapters/files'
import { gitVcs } from '@atrium/adapters/git'
import { gitCommits } from '@atrium/adapters/git/commits'
import { hookRunner } from '@atrium/adapters/hooks'
import { McpPool } from '@atrium/adapters/mcp'
import { listens } from '@atrium/adapters/network/listens'
import { markedHosts } from '@atrium/adapters/other-hosts'
import { sqliteSearch } from '@atrium/adapters/search/sqlite'
import type { PostgresPlace } from '@atrium/adapters/store/postgres'
import { ptyTerminals } from '@atrium/adapters/terminals'
import { gitWorktrees, treesOf } from '@atrium/adapters/worktrees'
import type { Host } from '@atrium/host'
import type { OwnerTerm } from '@atrium/host/cluster'
import { FileError } from '@atrium/host/ports/files'
import type { Authorizer } from '@atrium/host/ports/authorizer'
import type { Files } from '@atrium/host/ports/files'
import type { Notifier } from '@atrium/host/ports/notifier'
import type { TelemetryPort } from '@atrium/host/telemetry'
import type { World } from '@atrium/host/ports/world'
import { fileUri } from '@atrium/protocol/file-uri'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Logger } from 'pino'
import type { AgentSet } from './agents.ts'
import type { ServedHost } from './cluster-host.ts'
import { stateFolder } from './config.ts'
import type { Settings } from './config-fields.ts'
import { pluginCopies } from './plugin-copies.ts'
import { postgresNode } from './postgres.ts'
import type { NodeProcesses } from './postgres.ts'
import { lossIn, openStore } from './store.ts'
import type { OpenedStore } from './store.ts'
import { sentenceOf } from '../terminal/exit.ts'
import { version } from '../terminal/version.ts'

/** What a host is made of, beside its store. */
export interface HostParts {
  readonly settings: Settings
  readonly log: Logger
  readonly world: World
  readonly agentSet: AgentSet
  /** Makes the notifier that reaches people. A host closes its own. */
  readonly notifier: () => Promise<Notifier | undefined>
  /** Makes the port of telemetry. A host closes its own. */
  readonly telemetry: () => TelemetryPort
  /** The database of the store. Absent: the store is in the data folder. */
  readonly place: PostgresPlace | undefined
  /** Gets tokens from authorization servers. Absent: the host is read-only. */
  readonly authorizer: Authorizer | undefined
  /** The processes of one of several nodes. Absent: the host shares its store with nobody. */
  readonly node: NodeProcesses | undefined
  /** The address at which clients reach the host, if it is known before it listens. */
  readonly url: string | undefined
}

/** Opens the host: the only one of its store, or one of several nodes. */
export async function openHost(parts: HostParts): Promise<ServedHost> {
  const { settings, log, world, place, node, url, agentSet } = parts
  if (place && node)
    return postgresNode({
      settings,
      place,
      world,
      url,
      node,
      async open(opened, term) {
        const host = await createOn(parts, await preparedFor(parts), opened, term)
        // The lease is given back after the host is closed. Nothing may run then, not even an idle agent.
        const close = async () => {
          try {
            await host.close()
          } finally {
            await agentSet.close()
          }
        }
        return { ...host, close }
      },
      changed: (role) => log.info({ detail: role }, 'role'),
      failed: (error) => fail(parts, error),
    })
  // The store opens in its worker thread while this thread loads the host.
  const [opened, prepared] = await Promise.all([openStore(settings, place), preparedFor(parts)])
  if (opened.warning !== undefined) log.warn(opened.warning)
  const loss = lossIn(settings.data, opened.store)
  if (loss !== undefined) {
    log.error(loss)
    process.stderr.write(`atrium: ${loss} See what can be done: atrium doctor\n`)
  }
  return aloneHost(await createOn(parts, prepared, opened))
}

/** Returns a host that shares its store with nobody, as the server uses it. */
function aloneHost(host: Host): ServedHost {
  return {
    connect: (...given) => host.connect(...given),
    devices: host.devices,
    offer: (agents) => host.offer(agents),
    metrics: () => ({ host: host.metrics() }),
    ready: () => true,
    close: () => host.close(),
  }
}

/** What is loaded for a host while its store opens. */
async function preparedFor({ agentSet, notifier }: HostParts) {
  const [host, opened, reaching] = await Promise.all([import('@atrium/host'), agentSet.open(), notifier()])
  return { createHost: host.createHost, agents: opened.agents, notifier: reaching }
}

/** Opens a host on a store. A node does this each time when it becomes the owner. */
async function createOn(
  parts: HostParts,
  { createHost, agents, notifier }: Awaited<ReturnType<typeof preparedFor>>,
  { store, search, readOnly }: OpenedStore,
  term?: OwnerTerm,
): Promise<Host> {
  const { settings, log, world, agentSet, node } = parts
  const { processes } = agentSet
  const worktrees = join(settings.data, 'worktrees')
  const rebuilt = (reason: string) => log.warn({ detail: reason }, 'search index rebuilt')
  // A read-only host cannot make a search index: it uses the one that is there, if any.
  const hasIndex =
    search !== undefined || readOnly === undefined || existsSync(join(settings.data, 'search.db'))
  // No client and no agent may touch the files of the host, above all its token.
  const files = nodeFiles({
    forbidden: [settings.data],
    permitted: [treesOf(worktrees)],
    ...(readOnly === undefined && { unfinished: join(settings.data, 'unfinished') }),
  })
  return createHost({
    store,
    place: parts.place?.name ?? settings.data,
    world,
    agents,
    files: term ? ownersFiles(files, term) : files,
    encoder: threadEncoder(),
    listens,
    terminals: ptyTerminals(node && { processes: node.processes }),
    vcs: gitVcs({ processes }),
    ...(hasIndex && {
      search: search ?? sqliteSearch(settings.data, { readOnly: readOnly !== undefined, rebuilt }),
    }),
    ...(readOnly === undefined && {
      ...(settings.captures !== false && {
        captures: gitCaptures({ folder: join(settings.data, 'captures'), processes }),
        otherHosts: markedHosts({ folder: join(stateFolder(process.env), 'hosts') }),
      }),
      commits: gitCommits({ folder: join(settings.data, 'commits'), processes }),
    }),
    limits: captureLimits(settings),
    notifier,
    telemetry: parts.telemetry(),
    worktrees: gitWorktrees({ folder: worktrees, forbidden: [settings.data], processes }),
    hooks: hookRunner({ ...processes, environment: process.env }),
    mcp: new McpPool({ ...agentSet.processes, later: world.later, environment: process.env, version }),
    authorizer: parts.authorizer,
    customizations: {
      hash,
      home: resolve(homedir()),
      servers: settings.mcpServers ?? {},
      ...(readOnly === undefined && { copies: await pluginCopies(join(settings.data, 'plugin-copies')) }),
      dataOf: (id) => join(settings.data, 'plugins', hash(id).slice(0, 32)),
    },
    defaultDirectory: fileUri(resolve(settings.defaultDirectory ?? homedir())),
    ...(readOnly !== undefined && { readOnly }),
    ...(term && node && { refusal: term.refusal, machine: machineOf(settings, node) }),
    info: { name: 'atrium', version },
    build: `atrium ${version}`,
    // A deposed owner becomes a standby. After any other error, continuing could lose more data. The next start recovers
    // from what is on disk.
    fatal: (error) => {
      if (!term?.failed(error)) fail(parts, error)
    },
  })
}

/**
 * Files that only an owner changes. Agents that run in the process of the host (`atrium`, `guide`) are not ended by the watchdog, so their
 * edits are refused as soon as the lease is in doubt.
 */
export function ownersFiles(files: Files, { refusal }: Pick<OwnerTerm, 'refusal'>): Files {
  const mayChange = () => {
    const reason = refusal()
    if (reason !== undefined) throw new FileError('refused', reason)
  }
  return {
    ...files,
    async write(...given) {
      mayChange()
      return files.write(...given)
    },
    async change(...given) {
      mayChange()
      return files.change(...given)
    },
  }
}

/** Ends the process with a sentence. The watchdog ends its agents and shells. */
function fail({ place, settings }: HostParts, error: unknown): never {
  process.stderr.write(`atrium: The store in ${place?.name ?? settings.data} failed: ${sentenceOf(error)}\n`)
  process.exit(1)
}

/** The machine of a node, on which the folders of its new sessions are. */
function machineOf({ sharedFolder = [] }: Settings, { machine }: NodeProcesses) {
  return { name: machine, sharedFolders: sharedFolder.map((folder) => fileUri(resolve(folder))) }
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
