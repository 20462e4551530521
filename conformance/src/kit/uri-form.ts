import type { Uri } from '@atrium/protocol/channel'

/**
 * The form of the URIs that a host can work with. `{id}` stands for a new id, `{provider}` for the name of the agent,
 * and `{session}` for the URI of the session in base64url.
 */
export type UriForm = string

export const sessionForms: readonly UriForm[] = ['ahp-session:/{id}', '{provider}:/{id}']
export const plainChatForm: UriForm = 'ahp-chat:/{id}'

export interface UriParts {
  readonly id: string
  readonly provider?: string | undefined
  readonly session?: Uri | undefined
}

export function uriOf(form: UriForm, { id, provider = 'unknown', session = '' }: UriParts): Uri {
  const parts: { readonly [name: string]: string } = { id, provider, session: encoded(session) }
  return form.replace(/\{(\w+)\}/g, (text, name: string) => parts[name] ?? text)
}

/**
 * Reads from the URI of the default chat which form the URIs of further chats must have. Returns the plain form if
 * that URI shows no other.
 */
export function chatFormOf(defaultChat: Uri | undefined, session: Uri): UriForm {
  return defaultChat === `ahp-chat://default/${encoded(session)}`
    ? 'ahp-chat://{id}/{session}'
    : plainChatForm
}

function encoded(uri: Uri): string {
  return Buffer.from(uri).toString('base64url')
}
