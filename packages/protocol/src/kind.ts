import type { ActionTable, Class } from './action.ts'
import type { Action } from './channel.ts'
import type { Reduce } from './reduce.ts'
import { decode } from './schema.ts'
import type { Decoded, Schema } from './schema.ts'

/** The definition of one kind of channel. Code that works on all channels reads from these values how the kinds differ. */
export interface ChannelKind<S = unknown, A extends Action = Action> {
  readonly name: string
  readonly state: Schema<S>
  readonly reduce: Reduce<S, A>
  /** The schema of each action type. */
  readonly actions: ReadonlyMap<string, Schema<Action>>
  /** The action types a client may dispatch. */
  readonly dispatchable: ReadonlySet<string>
  readonly classes: ReadonlyMap<string, Class>
  /**
   * How many sequence numbers an action of each type takes, 1 if absent. A client of an older protocol version may
   * get several actions in place of one, and each needs a number. The number may depend on the action and on the
   * state after it.
   */
  readonly strides: ReadonlyMap<string, Stride>
  /**
   * The parts of the state that no action of this channel changes. A host may fill them in when it makes a snapshot,
   * and comparisons of states ignore them. `true` stands for the whole key, a nested table for keys inside it.
   */
  readonly derived: Derived<S>
  /**
   * The key of a long list in the state that grows only at its end. The host stores each item of the list separately.
   */
  readonly rows: (keyof S & string) | undefined
  /** Shortens a state that could grow without limit. The host applies this function; a client may keep more. */
  readonly tail: ((state: S) => S) | undefined
}

export type Stride = number | ((state: never, action: never) => number)

export type Derived<S> = { readonly [K in keyof S]?: true | Derived<NonNullable<S[K]>> }

interface Definition<S, A extends Action> {
  readonly name: string
  readonly state: Schema<S>
  readonly actions: ActionTable
  readonly reduce: Reduce<S, A>
  readonly strides?: {
    readonly [T in A['type']]?: number | ((state: S, action: Extract<A, { readonly type: T }>) => number)
  }
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
    strides: new Map(
      Object.entries<Stride | undefined>(definition.strides ?? {}).flatMap(([type, stride]) =>
        stride === undefined ? [] : [[type, stride] as const],
      ),
    ),
    derived: definition.derived ?? {},
    rows: definition.rows,
    tail: definition.tail,
  }
}

/** Checks an action against the schema of its type. An action of a type that the kind does not define passes. */
export function checkAction(of: Pick<ChannelKind, 'actions'>, action: Action): Decoded<Action> {
  const schema = of.actions.get(action.type)
  return schema ? decode(schema, action) : { ok: true, value: action }
}

/** The number of sequence numbers that an action takes. `state`: the state after the action. */
export function strideOf({ strides }: Pick<ChannelKind, 'strides'>, state: unknown, action: Action): number {
  const stride = strides.get(action.type) ?? 1
  // The stride was looked up by the type of the action, so it accepts this action and a state of its kind.
  return typeof stride === 'number' ? stride : Math.max(1, stride(state as never, action as never))
}
