/// Where the connections of a control API find its desk, once it listens.
///
/// Not Sendable: lives on its event loop.
final class ControlPlace {
    var desk: ControlDesk?

    /// No connection has it any more.
    func close() {
        self.desk?.close()
        self.desk = nil
    }
}
