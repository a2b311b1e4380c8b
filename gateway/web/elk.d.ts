// Vite turns this import into a worker; ELK itself brings no types for its worker file.
declare module '*?worker' {
  const create: new () => Worker;
  export default create;
}
