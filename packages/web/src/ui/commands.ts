import { useEffect, useState } from 'preact/hooks'
import { useShown } from './shown.ts'

/** Something that a person can do on the page, by the palette or by keys. */
export interface Command {
  readonly id: string
  readonly label: string
  /** A key such as `n`, or `Mod+k` with Ctrl (Cmd on a Mac). Undefined: only the palette has the command. */
  readonly keys?: string
  readonly run: () => void
}

const registered = new Map<string, Command>()
const listeners = new Set<() => void>()

/** Offers commands while the part of the page that can run them is shown. */
export function useCommands(commands: readonly Command[]): void {
  const shown = useShown()
  useEffect(() => {
    if (!shown) return
    for (const command of commands) registered.set(command.id, command)
    for (const listener of listeners) listener()
    return () => {
      // Another part of the page may have offered a command with the same id meanwhile. That command stays.
      for (const command of commands)
        if (registered.get(command.id) === command) registered.delete(command.id)
      for (const listener of listeners) listener()
    }
  }, [commands, shown])
}

/** The commands that are offered now. */
export function useOffered(): readonly Command[] {
  const [all, setAll] = useState(() => [...registered.values()])
  useEffect(() => {
    const changed = () => setAll([...registered.values()])
    listeners.add(changed)
    changed()
    return () => void listeners.delete(changed)
  }, [])
  return all
}

/** The command of a pressed key. Keys without Ctrl or Cmd count only where nobody types. A terminal gets all of its keys. */
export function commandOf(event: KeyboardEvent, singleKeys: boolean): Command | undefined {
  // On a Mac only Cmd counts, because Ctrl with a letter edits text there.
  const modified = isMac() ? event.metaKey : event.ctrlKey
  if (modified !== (event.ctrlKey || event.metaKey) || isIn(event.target, '.xterm')) return undefined
  if (event.altKey || event.isComposing) return undefined
  if (!modified && (!singleKeys || isTyping(event.target) || document.querySelector('dialog[open]')))
    return undefined
  const keys = modified ? `Mod+${event.key.toLowerCase()}` : event.key
  return [...registered.values()].find((command) => command.keys === keys)
}

/** Keys as people read them: `Ctrl+K`, or `⌘K` on a Mac. */
export function keyWords(keys: string, mac = isMac()): string {
  const [, key] = /^Mod\+(.)$/.exec(keys) ?? []
  if (key === undefined) return keys.length === 1 ? keys.toUpperCase() : keys
  return mac ? `⌘${key.toUpperCase()}` : `Ctrl+${key.toUpperCase()}`
}

function isMac(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent)
}

function isTyping(target: EventTarget | null): boolean {
  return isIn(target, 'input, textarea, select, [contenteditable]')
}

function isIn(target: EventTarget | null, selector: string): boolean {
  return target instanceof Element && target.closest(selector) !== null
}
