import { Activity } from '../status.ts'
import { compact } from '../update.ts'
import { withSummary } from './summary.ts'
import type { SummarySession } from './summary.ts'
import { absent } from './table.ts'
import type { Rule, VersionRules } from './table.ts'
import { v02 } from './v0-2.ts'

/** A customization at 0.1, in a list without children: a reference, and the state of the customization beside it. */
interface Customization {
  readonly customization: { readonly uri: string }
  readonly enabled: boolean
  readonly status?: string
  readonly statusMessage?: string
}
interface Session extends SummarySession {
  readonly customizations?: readonly Customization[]
}

/** At 0.1 `session/ready` sets the status to idle and removes its flags. */
const ready: Rule<Session, unknown> = (state) => ({
  ...withSummary(state, { status: Activity.Idle }),
  lifecycle: 'ready',
})

const diffsChanged: Rule<Session, { readonly diffs: unknown }> = (state, { diffs }) =>
  withSummary(state, { diffs })

const customizationToggled: Rule<Session, { readonly uri: string; readonly enabled: boolean }> = (
  state,
  { uri, enabled },
) => {
  const list = state.customizations ?? []
  const at = indexOf(list, uri)
  const item = list[at]
  return item ? { ...state, customizations: list.with(at, { ...item, enabled }) } : state
}

/**
 * An update changes the given keys of a known customization. An unknown customization is appended. It is disabled unless the
 * update enables it.
 */
const customizationUpdated: Rule<
  Session,
  Pick<Customization, 'customization' | 'status' | 'statusMessage'> & { readonly enabled?: boolean }
> = (state, { customization, enabled, status, statusMessage }) => {
  const list = state.customizations ?? []
  const at = indexOf(list, customization.uri)
  const item = compact<Customization>({
    ...(list[at] ?? { enabled: false }),
    customization,
    ...(enabled !== undefined && { enabled }),
    ...(status !== undefined && { status }),
    ...(statusMessage !== undefined && { statusMessage }),
  })
  return { ...state, customizations: at < 0 ? [...list, item] : list.with(at, item) }
}

function indexOf(list: readonly Customization[], uri: string): number {
  return list.findIndex((item) => item.customization.uri === uri)
}

export const v01: VersionRules = {
  ...v02,
  session: {
    ...v02.session,
    ...absent('session/agentChanged', 'session/changesetsChanged', 'session/customizationRemoved'),
    'session/ready': ready,
    'session/diffsChanged': diffsChanged,
    'session/customizationToggled': customizationToggled,
    'session/customizationUpdated': customizationUpdated,
  },
  changeset: undefined,
  resourceWatch: undefined,
}
