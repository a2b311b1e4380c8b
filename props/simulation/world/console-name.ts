// Where Sensors and browsers find a Console.

/** The name under which Sensors and browsers look for their Console. */
export const CONSOLE_HOST_NAME = 'console.world';
export const CONSOLE_URL = `https://${CONSOLE_HOST_NAME}`;
