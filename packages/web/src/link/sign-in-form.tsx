import type { Client } from '@atrium/client/client'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../ui/button.tsx'
import { useShown } from '../ui/shown.ts'
import { askExtension, offers } from './extension.ts'
import { textMember } from './member.ts'
import { failedRequest, failureWords } from './outcome-words.ts'

interface Props {
  readonly client: Client
  readonly resource: ProtectedResourceMetadata
  readonly onDone: () => void
  /** Further buttons. */
  readonly children?: ComponentChildren
}

/**
 * Signs in to a resource. A token goes to the host and is not kept here. A resource that takes no token has only the button: the
 * agent on the machine of the host signs in by itself.
 */
export function SignInForm({ client, resource: metadata, onDone, children }: Props) {
  const { resource, bearer_methods_supported: methods } = metadata
  const [token, setToken] = useState('')
  const [byToken, setByToken] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const shown = useShown()
  // A token that was typed and not sent is forgotten when a person leaves the session.
  useEffect(() => {
    if (!shown) setToken('')
  }, [shown])
  const takesToken = methods === undefined || methods.length > 0
  const servers = metadata.authorization_servers ?? []
  const isBrowsed = servers.length > 0 && !byToken && offers(client, 'x-atrium/beginSignIn')
  const signIn = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      await client.ask('authenticate', { resource, token: takesToken ? token : 'sign in' })
      setToken('')
      onDone()
    } catch (error) {
      setProblem(
        failureWords(failedRequest(error), 'The sign-in was refused', 'the host has taken the sign-in'),
      )
    }
    setBusy(false)
  }
  const signInByBrowser = async () => {
    setBusy(true)
    setProblem(undefined)
    // A window that is opened later than the click would be blocked.
    const opened = window.open('', '_blank')
    try {
      const redirect = `${location.origin}/oauth/callback`
      const begun = await askExtension(client, 'x-atrium/beginSignIn', { resource, redirect })
      const url = safeAddress(textMember(begun, 'url'))
      if (!opened || url === undefined)
        throw new Error('the browser did not open its page; allow windows of this page, and try again')
      opened.location.href = url
      await askExtension(client, 'x-atrium/endSignIn', { resource })
      onDone()
    } catch (error) {
      opened?.close()
      setProblem(failureWords(failedRequest(error), 'The sign-in failed', 'the sign-in has succeeded'))
    }
    setBusy(false)
  }
  const alert = problem !== undefined && (
    <p class="problem" role="alert">
      {problem}
    </p>
  )
  if (isBrowsed)
    return (
      <div class="stack">
        {alert}
        <div class="choices">
          <Button look="primary" disabled={busy} onClick={() => void signInByBrowser()}>
            {busy ? 'Waiting for the browser…' : 'Sign in'}
          </Button>
          <Button look="quiet" onClick={() => setByToken(true)}>
            With a token
          </Button>
          {children}
        </div>
      </div>
    )
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        void signIn()
      }}
    >
      {takesToken && (
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
      )}
      {alert}
      <div class="choices">
        <Button submit look="primary" disabled={busy || (takesToken && token === '')}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
        {children}
      </div>
    </form>
  )
}

/** The address of an authorization server, if a browser may go there: a server chooses it. */
function safeAddress(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:\/\//.test(url) ? url : undefined
}
