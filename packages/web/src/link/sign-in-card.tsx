import type { Client } from '@atrium/client/client'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { visibleText } from '@atrium/protocol/text/visible'
import { RoleNote } from './role-note.tsx'
import { useMay } from './role.ts'
import { SignInForm } from './sign-in-form.tsx'

interface Props {
  readonly client: Client
  readonly resources: readonly ProtectedResourceMetadata[]
  /** Why a sign-in is needed. */
  readonly why?: string | undefined
  readonly onDone: (resource: string) => void
}

/** Asks for a sign-in to one of several resources, each with a form of its own. */
export function SignInCard({ client, resources, why, onDone }: Props) {
  const owns = useMay('own')
  return (
    <section class="approval sign-in" aria-label="Sign-in">
      {why !== undefined && <p class="quiet">{visibleText(why)}</p>}
      <RoleNote needed="own" to="sign in" />
      {resources.map((each) => (
        <div key={each.resource} class="stack">
          <p class="approval-title">Sign in to {visibleText(each.resource_name ?? each.resource)}</p>
          {owns && <SignInForm client={client} resource={each} onDone={() => onDone(each.resource)} />}
        </div>
      ))}
    </section>
  )
}
