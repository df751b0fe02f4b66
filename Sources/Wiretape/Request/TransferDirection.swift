/// Which way octets go.
enum TransferDirection: Sendable {
    case upload, download
}
