import { useEffect, useState } from 'preact/hooks'
import { commandOf } from '../ui/commands.ts'

const key = 'single-keys'

/**
 * Runs commands by their keys. Keys without Ctrl or Cmd can be turned off, because speech input and shaking hands press them
 * by accident.
 */
export function useShortcuts(): readonly [boolean, (on: boolean) => void] {
  const [singleKeys, setSingleKeys] = useState(localStorage.getItem(key) !== 'off')
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const command = commandOf(event, singleKeys)
      if (!command) return
      event.preventDefault()
      command.run()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [singleKeys])
  const choose = (on: boolean) => {
    localStorage.setItem(key, on ? 'on' : 'off')
    setSingleKeys(on)
  }
  return [singleKeys, choose]
}
