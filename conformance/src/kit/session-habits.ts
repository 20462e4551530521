import { plainChatForm } from './uri-form.ts'
import type { UriForm } from './uri-form.ts'

/** How a host treats new sessions. AHP leaves these choices to the host, so rules adapt to them. */
export interface SessionHabits {
  /** The form of the session URIs that the host can work with. */
  readonly sessionForm: UriForm
  /** The form of the chat URIs that the host can work with. */
  readonly chatForm: UriForm
  /** Whether a session stays `creating` until its first turn. */
  readonly readyAtFirstTurn: boolean
  /** Whether a session is announced and listed from its first turn on, and not before. */
  readonly listedAtFirstTurn: boolean
}

/** The habits of most hosts. They are also assumed for hosts that cannot create a session. */
export const usualHabits: SessionHabits = {
  sessionForm: 'ahp-session:/{id}',
  chatForm: plainChatForm,
  readyAtFirstTurn: false,
  listedAtFirstTurn: false,
}
