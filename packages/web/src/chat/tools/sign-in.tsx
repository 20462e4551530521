import type { ToolCallAuthRequired } from '@atrium/protocol/chat/tool'
import { RoleNote } from '../../link/role-note.tsx'
import { useMay } from '../../link/role.ts'
import { SignInForm } from '../../link/sign-in-form.tsx'
import { Button } from '../../ui/button.tsx'
import { useChat, useDecide } from '../shared/context.ts'
import { visibleText } from '../shared/text.ts'

interface Props {
  readonly turnId: string
  readonly call: ToolCallAuthRequired
}

/** A tool that waits for a sign-in. */
export function SignIn({ turnId, call }: Props) {
  const { client } = useChat()
  const decide = useDecide()
  const owns = useMay('own')
  const { resource, description } = call.auth
  const giveUp = () => {
    const message = 'Nobody signed in'
    const result = { success: false, pastTenseMessage: message, error: { message } }
    decide({ type: 'chat/toolCallComplete', turnId, toolCallId: call.toolCallId, result })
  }
  return (
    <div class="approval">
      <p class="approval-title">Sign in to {visibleText(resource.resource_name ?? resource.resource)}</p>
      {description !== undefined && <p class="quiet">{visibleText(description)}</p>}
      <RoleNote needed="own" to="sign in" />
      {owns && (
        <SignInForm client={client} resource={resource} onDone={() => {}}>
          <Button look="quiet" onClick={giveUp}>
            Go on without
          </Button>
        </SignInForm>
      )}
    </div>
  )
}
