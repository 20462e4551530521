import type {
  ChildCustomization,
  Customization,
  CustomizationEnablement,
} from '@atrium/protocol/session/customization'
import { onOneLine } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** A customization of a session, or a part of one. */
export interface Item {
  readonly of: Customization | ChildCustomization
  readonly isPart: boolean
  /** The command lines that it would run, and that need the user's consent. Empty if there are none. */
  readonly programs: readonly string[]
}

/** The customizations of a session, each before its parts. */
export function itemsOf(customizations: readonly Customization[] = []): readonly Item[] {
  return customizations.flatMap((each) => [
    item(each, false),
    ...('children' in each ? (each.children ?? []) : []).map((child) => item(child, true)),
  ])
}

/** Finds a customization or a part by its name or its id. A whole customization comes before a part of the same name. */
export function findItem(
  customizations: readonly Customization[] | undefined,
  name: string,
): Item | undefined {
  const all = itemsOf(customizations)
  const named = all.filter(({ of }) => of.id === name || of.name === name)
  return named.find(({ isPart }) => !isPart) ?? named[0]
}

export function enablementOf(of: Item['of']): readonly CustomizationEnablement[] {
  return 'enablement' in of ? (of.enablement ?? []) : []
}

export function isOn(of: Item['of']): boolean {
  if ('enablement' in of && of.enablement) return of.enablement[0]?.enabled ?? true
  return !('enabled' in of) || of.enabled !== false
}

export function documentOf({ of, programs }: Item): object {
  const { id, name, type } = of
  return { id, name, type, on: isOn(of), state: stateOf(of), ...(programs.length > 0 && { programs }) }
}

export function rowOf({ of, isPart }: Item, { dim }: Style): readonly string[] {
  const { name, type } = of
  return [
    `${isPart ? '  ' : ''}${onOneLine(name)}`,
    dim(type),
    isOn(of) ? 'on' : 'off',
    onOneLine(stateOf(of)),
  ]
}

/** The load state, or the state of an MCP server, with its reason. */
function stateOf(of: Item['of']): string {
  if (of.type === 'mcpServer') return of.state.kind === 'error' ? of.state.error.message : of.state.kind
  const load = 'load' in of ? of.load : undefined
  if (!load) return ''
  return 'message' in load ? `${load.kind}: ${load.message}` : load.kind
}

function item(of: Item['of'], isPart: boolean): Item {
  const meta: unknown = of._meta?.['x-atrium']
  const programs = typeof meta === 'object' && meta !== null && 'programs' in meta ? meta.programs : undefined
  const lines = typeof programs === 'object' && programs !== null && 'lines' in programs ? programs.lines : []
  return {
    of,
    isPart,
    programs: Array.isArray(lines) ? lines.filter((each) => typeof each === 'string') : [],
  }
}
