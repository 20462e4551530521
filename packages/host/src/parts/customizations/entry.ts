import type { Uri } from '@atrium/protocol/channel'
import type {
  ChildCustomization,
  Customization,
  CustomizationEnablement,
  CustomizationLoad,
  McpServerCustomization,
  McpServerState,
} from '@atrium/protocol/session/customization'
import { compact, orAbsent } from '@atrium/protocol/update'
import type { McpServer } from '../../ports/mcp.ts'
import { shownChannel } from './mcp-channel.ts'
import type { Programs } from './consent.ts'
import type { Loaded } from './loaded.ts'
import { programsIn, programsOf } from './programs.ts'
import { needsConsent } from './source.ts'
import type { Source } from './source.ts'

/** What a customization in a session's state shows besides its content: users' decisions, the state of programs. */
export interface EntryContext {
  /** The decisions of users about a customization, the most specific first. `before`: the entry in the session's state. */
  decisions(id: string, before: Known | undefined): readonly CustomizationEnablement[]
  /**
   * Why the programs of a source or of a component may not or cannot run. Undefined if there are no programs, or if they may
   * run.
   */
  programProblem(id: string): string | undefined
  /** An MCP server that the host runs for the session. */
  server(childId: string): McpServer | undefined
  /** Absent for what every session has. */
  readonly session?: Uri
}

/** A customization, or a child of one, in the state of a session. */
export type Known = Customization | ChildCustomization

/** The customization that a session shows while its plugin or folder is being read. */
export function loadingEntry(source: Source, { decisions }: EntryContext): Customization {
  const entry = base(source, { load: { kind: 'loading' } })
  const enablement = orAbsent(decisions(source.id, undefined))
  return entry.type === 'plugin' && enablement ? { ...entry, enablement } : entry
}

/**
 * The customization of a plugin or folder that was read. `before` is the customization in the session's state until
 * now. It has the decisions of users for this session, which stay.
 */
export function entryOf(
  source: Source,
  loaded: Loaded,
  context: EntryContext,
  before: Customization | undefined,
): Container {
  const known = before && 'children' in before ? (before.children ?? []) : []
  const asks = needsConsent(source)
  const children = loaded.parts.components.map((component) => {
    const { id } = component.child
    const shown = childOf(
      component.child,
      context,
      known.find((each) => each.id === id),
    )
    return asks ? withPrograms(shown, programsIn(loaded, component)) : shown
  })
  const decisions = context.decisions(source.id, before)
  const { name = source.name, version } = loaded
  const entry = base(source, { load: loadOf(source, loaded, context), children, name })
  const shown = asks ? withPrograms(entry, programsOf(loaded)) : entry
  if (shown.type === 'directory') return { ...shown, enabled: decisions[0]?.enabled ?? true }
  return compact<Extract<Container, { readonly type: 'plugin' }>>({
    ...shown,
    enablement: orAbsent(decisions),
    version,
  })
}

function childOf(
  child: ChildCustomization,
  context: EntryContext,
  before: ChildCustomization | undefined,
): ChildCustomization {
  const decisions = context.decisions(child.id, before)
  if (child.type !== 'mcpServer')
    return decisions.length > 0 ? { ...child, enabled: decisions[0]?.enabled ?? true } : child
  const problem = context.programProblem(child.id)
  const server = problem === undefined ? context.server(child.id) : undefined
  const state: McpServerState =
    problem === undefined
      ? (server?.state ?? { kind: 'stopped' })
      : { kind: 'error', error: { errorType: 'consent', message: problem } }
  const shown = shownChannel(context.session ?? '', child.id, server)
  return compact<ChildCustomization>({ ...child, ...shown, enablement: orAbsent(decisions), state })
}

/** The load state of a source. If programs may not run, the state is `degraded`, and the message says which programs. */
function loadOf(
  { id }: Source,
  { parts: { load, components } }: Loaded,
  context: EntryContext,
): CustomizationLoad {
  const waiting = components.flatMap(({ child }) => context.programProblem(child.id) ?? [])
  if (waiting.length === 0 || load.kind === 'error') return load
  const consent = waiting.length > 1 ? context.programProblem(id) : waiting[0]
  const messages = [load.kind === 'degraded' ? load.message : undefined, consent]
  return { kind: 'degraded', message: messages.filter((each) => each !== undefined).join('\n') }
}

/**
 * Limits the customizations in the state of a session to `max` characters of JSON, one after the other. A
 * customization that would exceed the rest of this length loses its children.
 */
export function withinLength(list: readonly Customization[], max: number): readonly Customization[] {
  let left = max
  return list.map((each) => {
    const length = JSON.stringify(each).length
    if (length <= left || !('children' in each)) {
      left -= length
      return each
    }
    const { children: _, ...entry } = each
    const message = `Its parts are left out: the customizations of a session have at most ${max} characters.`
    return { ...entry, load: { kind: 'error', message } }
  })
}

/** A customization that has children. */
export type Container = Exclude<Customization, McpServerCustomization>

interface Fields {
  readonly name?: string
  readonly load: CustomizationLoad
  readonly children?: readonly ChildCustomization[]
}

function base({ id, uri, name, folder, origin, published }: Source, fields: Fields): Container {
  const shown = { id, uri, name, ...(published && { clientId: published.clientId }), ...fields }
  if (folder)
    return {
      ...shown,
      type: 'directory',
      enabled: true,
      contents: folder.contents,
      writable: origin !== 'client',
    }
  const { icons, _meta } = published?.plugin ?? {}
  const description = _meta?.['description']
  // Of the rest of its `_meta` a client could make what only the host may say (`x-atrium`).
  const about = typeof description === 'string' ? { description } : undefined
  return { ...shown, type: 'plugin', ...(icons && { icons }), ...(about && { _meta: about }) }
}

const metaKey = 'x-atrium'

/** Adds programs to the `_meta` of an item. A user who enables the item consents to exactly these programs. */
function withPrograms<C extends Known>(item: C, programs: Programs): C {
  return programs.lines.length === 0 ? item : { ...item, _meta: { ...item._meta, [metaKey]: { programs } } }
}

/** The programs that a customization or a child shows in its `_meta`. */
export function shownPrograms(list: readonly Customization[] = [], id: string): Programs | undefined {
  const items = list.flatMap((each): readonly Known[] => [
    each,
    ...('children' in each ? (each.children ?? []) : []),
  ])
  const meta = items.find((each) => each.id === id)?._meta?.[metaKey]
  // Only the host writes this key of a customization.
  return (meta as { readonly programs?: Programs } | undefined)?.programs
}
