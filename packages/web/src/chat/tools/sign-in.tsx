import type { ToolCallAuthRequired } from '@atrium/protocol/chat/tool'
import { useEffect, useState } from 'preact/hooks'
import { failedRequest, failureWords } from '../../link/outcome-words.ts'
import { RoleNote } from '../../link/role-note.tsx'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { useShown } from '../../ui/shown.ts'
import { useChat, useDecide } from '../shared/context.ts'
import { visibleText } from '../shared/text.ts'

interface Props {
  readonly turnId: string
  readonly call: ToolCallAuthRequired
}

/** A tool that waits for a sign-in. The token goes to the host and is not kept here. */
export function SignIn({ turnId, call }: Props) {
  const { client, say } = useChat()
  const decide = useDecide()
  const owns = useMay('own')
  const [token, setToken] = useState('')
  const shown = useShown()
  // A token that was typed and not sent is forgotten when a person leaves the session.
  useEffect(() => {
    if (!shown) setToken('')
  }, [shown])
  const { resource, description } = call.auth
  const signIn = () =>
    client.ask('authenticate', { resource: resource.resource, token }).then(
      () => setToken(''),
      (error: unknown) =>
        say(failureWords(failedRequest(error), 'The host refused the token', 'the host has taken the token')),
    )
  const giveUp = () => {
    const message = 'Nobody signed in'
    const result = { success: false, pastTenseMessage: message, error: { message } }
    decide({ type: 'chat/toolCallComplete', turnId, toolCallId: call.toolCallId, result })
  }
  return (
    <form
      class="approval"
      onSubmit={(event) => {
        event.preventDefault()
        void signIn()
      }}
    >
      <p class="approval-title">Sign in to {visibleText(resource.resource_name ?? resource.resource)}</p>
      {description !== undefined && <p class="quiet">{visibleText(description)}</p>}
      <RoleNote needed="own" to="sign in" />
      {owns && (
        <>
          <label class="field">
            <span>Token</span>
            <input
              type="password"
              autocomplete="off"
              value={token}
              onInput={(event) => setToken(event.currentTarget.value)}
            />
          </label>
          <div class="choices">
            <Button submit look="primary" disabled={token === ''}>
              Sign in
            </Button>
            <Button look="quiet" onClick={giveUp}>
              Go on without
            </Button>
          </div>
        </>
      )}
    </form>
  )
}
