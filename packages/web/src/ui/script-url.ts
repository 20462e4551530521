interface Policy {
  createScriptURL(url: string): unknown
}

interface Factory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy
}

// Trusted Types are not in the types of the DOM yet: hence the cast.
const factory = (globalThis as { readonly trustedTypes?: Factory }).trustedTypes

/** The only policy of the page: a script of a worker must be one of the host's own built files, or its service worker. */
const policy = factory?.createPolicy('atrium', {
  createScriptURL(url) {
    const { origin, pathname } = new URL(url, location.href)
    const isOurs = pathname.startsWith('/assets/') || pathname === '/service-worker.js'
    if (origin === location.origin && isOurs) return url
    throw new TypeError('only scripts of this host may run')
  },
})

/** The address of a worker's script, in the form that the policy of the page demands. */
export function scriptUrl(url: string): unknown {
  return policy ? policy.createScriptURL(url) : url
}
