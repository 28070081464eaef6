// The view of odds.
export function show() {}
