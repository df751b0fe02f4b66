internal import Platform
internal import TapeIsolation
internal import TapeProxy

extension Isolation {
    /// - Parameters:
    ///   - socket: nil to only try it.
    ///   - port: of the proxy.
    func plan(socket: Int32?, port: UInt16) -> NamespacePlan.Isolation {
        NamespacePlan.Isolation(socket: socket, port: port, reach: self.settings.reach.sorted())
    }

    #if os(Linux)
    /// Takes the namespace's sockets from the process that has just been started, serves them, and lets the command begin.
    ///
    /// - Returns: why that is not possible; nil if the command begins.
    func open(for server: ProxyServer) -> String? {
        self.started()
        do throws(IsolationError) {
            try self.receive()
        } catch {
            guard error.isObstacle, let obstacle = NamespaceObstacle(line: error.description) else { return error.description }
            return NamespaceAdvice(obstacle, .read()).isolationRefusal
        }
        do throws(ProxyError) {
            try server.serveIsolation()
        } catch {
            return error.message
        }
        self.begin()
        return nil
    }
    #endif
}
