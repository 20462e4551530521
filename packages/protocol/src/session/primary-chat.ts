import type { Uri } from '../channel.ts'

/** The chats of a session, as a state or a summary lists them. */
interface ChatList {
  readonly defaultChat?: Uri
  readonly chats?: readonly { readonly resource: Uri }[]
}

/**
 * The chat that represents its session for a client whose version has no chats: the default chat if it is listed,
 * otherwise the first chat. Undefined if there is none.
 */
export function primaryChat({ defaultChat, chats }: ChatList): Uri | undefined {
  if (!chats) return defaultChat
  const listed = chats.some(({ resource }) => resource === defaultChat)
  return listed ? defaultChat : chats[0]?.resource
}
