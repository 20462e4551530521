import type { ActionTable, Class } from './action.ts'
import type { Action } from './channel.ts'
import type { Reduce } from './reduce.ts'
import { decode } from './schema.ts'
import type { Decoded, Schema } from './schema.ts'

/** A channel kind is a value. Whatever would be written once per kind elsewhere is written once, over this. */
export interface ChannelKind<S = unknown, A extends Action = Action> {
  readonly name: string
  readonly state: Schema<S>
  readonly reduce: Reduce<S, A>
  /** The check of each action type. */
  readonly actions: ReadonlyMap<string, Schema<Action>>
  /** The action types a client may dispatch. */
  readonly dispatchable: ReadonlySet<string>
  readonly classes: ReadonlyMap<string, Class>
  /** How many numbers an action takes, because an older protocol generation says it with several; else 1. */
  readonly strides: ReadonlyMap<string, number>
  /**
   * What no action of this channel can change: filled in when a snapshot is made, left out when states are
   * compared. `true` is the whole key, a number the bits of it, a table what is
   * inside it.
   */
  readonly derived: Derived<S>
  /** The list in the state that only grows at its end and is kept a row each, because it gets long. */
  readonly rows: (keyof S & string) | undefined
  /** What a host keeps of a state that could grow without end; whoever follows it may keep more. */
  readonly tail: ((state: S) => S) | undefined
}

export type Derived<S> = { readonly [K in keyof S]?: true | number | Derived<NonNullable<S[K]>> }

interface Definition<S, A extends Action> {
  readonly name: string
  readonly state: Schema<S>
  readonly actions: ActionTable
  readonly reduce: Reduce<S, A>
  readonly strides?: { readonly [T in A['type']]?: number }
  readonly derived?: Derived<S>
  readonly rows?: keyof S & string
  readonly tail?: (state: S) => S
}

export function kind<S, A extends Action>(definition: Definition<S, A>): ChannelKind<S, A> {
  const rows = Object.entries(definition.actions)
  return {
    name: definition.name,
    state: definition.state,
    reduce: definition.reduce,
    actions: new Map(rows.map(([type, row]) => [type, row.schema(type)])),
    dispatchable: new Set(rows.filter(([, row]) => row.by === 'client').map(([type]) => type)),
    classes: new Map(rows.map(([type, row]) => [type, row.class])),
    strides: new Map(Object.entries<number | undefined>(definition.strides ?? {}) as [string, number][]),
    derived: definition.derived ?? {},
    rows: definition.rows,
    tail: definition.tail,
  }
}

/** Whether an action has the shape its type asks for. A type that the kind does not know has any shape. */
export function checkAction(of: Pick<ChannelKind, 'actions'>, action: Action): Decoded<Action> {
  const schema = of.actions.get(action.type)
  return schema ? decode(schema, action) : { ok: true, value: action }
}
