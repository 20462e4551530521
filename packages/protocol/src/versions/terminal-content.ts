import { isJsonObject } from '../json.ts'
import { omit, put, shapeOf, textOf } from './shape.ts'
import type { Shape } from './shape.ts'

// The output of a command in the content of a tool call. Since 0.7 the block of a terminal contains the result of its command.
// Up to 0.6 the result is a separate block.

export function terminalContentDown(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  const items: readonly unknown[] = list
  return items.some(isNew)
    ? items.flatMap((item): readonly unknown[] => (isNew(item) ? blocksOf(item) : [item]))
    : list
}

function isNew(item: unknown): item is Shape {
  return isJsonObject(item) && item['type'] === 'terminal' && ('result' in item || 'isPty' in item)
}

function blocksOf(terminal: Shape): readonly Shape[] {
  const block = omit(terminal, 'isPty', 'result')
  const { result, resource } = terminal
  return isJsonObject(result) ? [block, { ...result, type: 'terminalComplete', resource }] : [block]
}

/**
 * Adds each result to the block of its terminal, which comes before it. If there is no such block, a new one is made. A
 * result that names no terminal is shown as a text.
 */
export function terminalContentUp(list: unknown): unknown {
  if (!Array.isArray(list) || !list.some(isResult)) return list
  const lifted: unknown[] = []
  for (const item of list as readonly unknown[]) {
    if (isResult(item)) addResult(lifted, item)
    else lifted.push(item)
  }
  return lifted
}

function isResult(item: unknown): item is Shape {
  return isJsonObject(item) && item['type'] === 'terminalComplete'
}

function addResult(blocks: unknown[], item: Shape): void {
  const { resource } = item
  // 0.7 has no key for the folder of a command.
  const result = omit(item, 'type', 'resource', 'cwd')
  const at = blocks.findLastIndex((block) => isOpenTerminal(block, resource))
  if (at >= 0) blocks[at] = put(shapeOf(blocks[at]), { result })
  else if (typeof resource === 'string')
    blocks.push({ type: 'terminal', resource, title: 'Terminal', result })
  else blocks.push({ type: 'text', text: textOf(item, 'preview') ?? '' })
}

function isOpenTerminal(block: unknown, resource: unknown): boolean {
  const { type, resource: name, result } = shapeOf(block)
  return type === 'terminal' && result === undefined && resource !== undefined && name === resource
}
