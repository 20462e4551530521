/** The name of the product, with its mark. */
export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
        <path
          d="M5 26V15a11 11 0 0 1 22 0v11"
          fill="none"
          stroke="currentColor"
          stroke-width="3"
          stroke-linecap="round"
        />
        <path
          d="M12 26v-9a4 4 0 0 1 8 0v9"
          fill="none"
          stroke="currentColor"
          stroke-width="3"
          stroke-linecap="round"
        />
      </svg>
      Atrium
    </span>
  )
}
