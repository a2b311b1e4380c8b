// The table of orders as the database holds it.

export type ContainmentOrdersTable = {
  order_id: string;
  sensor_id: string;
  wanted: 'contained' | 'released';
  reason: string;
  ordered_by: string;
  ordered_at_ms: number;
  until_ms: number | null;
};

export type ContainmentTables = {
  containment_orders: ContainmentOrdersTable;
};
