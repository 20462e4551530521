import type { Client } from '@atrium/client/client'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Comments } from './comments.ts'

/** An operation that a person has asked for before the view was open. */
export type Wanted = 'undo' | 'commit'

/** The values that all parts of the view of changes share. */
export interface ChangesContext {
  readonly client: Client
  /** The folders of the session. */
  readonly folders: readonly string[]
  readonly comments: Comments
  /** Whether the sides of a diff stand beside each other. */
  readonly split: boolean
  /** The operation whose dialog opens with the changes. */
  readonly wanted: Wanted | undefined
  readonly say: (text: string) => void
}

const Context = createContext<ChangesContext | undefined>(undefined)

export const ChangesProvider = Context.Provider

export function useChanges(): ChangesContext {
  const found = useContext(Context)
  if (!found) throw new Error('there is no view of changes around this part')
  return found
}
