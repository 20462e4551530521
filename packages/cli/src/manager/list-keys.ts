import type { Key } from '../terminal/keys.ts'
import type { ActionName } from './actions.ts'

type ListCommand =
  | { readonly kind: 'leave' | 'filter' | 'archived' | 'clear' }
  | { readonly kind: 'click'; readonly row: number }
  | { readonly kind: 'move'; readonly to: (index: number, height: number, length: number) => number }
  | { readonly kind: 'action'; readonly name: ActionName }

/** Returns what a key means in the list; undefined if nothing. */
export function listKeys(key: Key): ListCommand | undefined {
  if (key.name === 'mouse') return mouse(key.text ?? '')
  return table.get(key.name === 'text' ? (key.text ?? '') : key.name)
}

const by = (step: number): ListCommand => ({ kind: 'move', to: (index) => index + step })
const action = (name: ActionName): ListCommand => ({ kind: 'action', name })

const table: ReadonlyMap<string, ListCommand> = new Map<string, ListCommand>([
  ['up', by(-1)],
  ['k', by(-1)],
  ['down', by(1)],
  ['j', by(1)],
  ['page-up', { kind: 'move', to: (index, height) => index - height }],
  ['page-down', { kind: 'move', to: (index, height) => index + height }],
  ['home', { kind: 'move', to: () => 0 }],
  ['g', { kind: 'move', to: () => 0 }],
  ['end', { kind: 'move', to: (_index, _height, length) => length - 1 }],
  ['G', { kind: 'move', to: (_index, _height, length) => length - 1 }],
  ['enter', action('open')],
  ['n', action('begin')],
  ['d', action('diff')],
  ['u', action('undo')],
  ['t', action('terminal')],
  ['c', action('cancel')],
  ['R', action('rename')],
  ['x', action('archive')],
  ['?', action('help')],
  ['/', { kind: 'filter' }],
  ['A', { kind: 'archived' }],
  ['escape', { kind: 'clear' }],
  ['q', { kind: 'leave' }],
  ['ctrl-c', { kind: 'leave' }],
  ['ctrl-d', { kind: 'leave' }],
])

/** The left button pressed, or the wheel. Rows count from 0. */
function mouse(sequence: string): ListCommand | undefined {
  // oxlint-disable-next-line no-control-regex
  const [, button, row = '1', end] = /^\u001b\[<(\d+);\d+;(\d+)([Mm])$/.exec(sequence) ?? []
  if (button === '64' || button === '65') return by(button === '64' ? -3 : 3)
  return button === '0' && end === 'M' ? { kind: 'click', row: Number(row) - 1 } : undefined
}
