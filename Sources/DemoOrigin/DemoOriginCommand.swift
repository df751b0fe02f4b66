internal import NIOCore
internal import NIOPosix
internal import Platform

/// Starts the demo's origin server on a free loopback port, or the one given, and runs it until SIGTERM or SIGINT: DemoOrigin [PORT]
@main
enum DemoOriginCommand {
    static func main() throws {
        var stopSignals = sigset_t()
        sigemptyset(&stopSignals)
        sigaddset(&stopSignals, SIGTERM)
        sigaddset(&stopSignals, SIGINT)
        // Blocked before the first thread starts, so that every thread inherits it and only sigwait sees them.
        pthread_sigmask(SIG_BLOCK, &stopSignals, nil)

        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let arguments = CommandLine.arguments.dropFirst()
        guard let port = UInt16(arguments.first ?? "0"), arguments.count <= 1 else {
            throw OriginError(message: "want a port, 0 to 65535, or nothing, not \"\(arguments.joined(separator: " "))\"")
        }
        let server = try OriginServer.start(on: group, port: Int(port))
        print(server.url)
        fflush(nil)

        var received: Int32 = 0
        sigwait(&stopSignals, &received)
        try server.stop()
        try group.syncShutdownGracefully()
    }
}
