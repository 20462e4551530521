import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

const Context = createContext(true)

/** Tells all components inside whether their part of the page is shown. */
export const ShownProvider = Context.Provider

/**
 * Whether the part of the page that a component belongs to is shown. A part that a person has left may stay in the
 * document for a while (U48). Nobody sees it, so it draws nothing, runs no timers and offers no commands.
 */
export function useShown(): boolean {
  return useContext(Context)
}
