internal import ArgumentParser
internal import Platform
internal import TapeProxy

struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Check that a proxy is listening, or wait until it is.",
        discussion: """
            Exits with 0 if wiretape answers at the address, and with 1 if nothing or something else does. For scripts that start a proxy \
            in the background, and for health checks of containers.

            Examples:
              wiretape record Cassettes/pets.json --listen 127.0.0.1:7070 &
              wiretape ping --proxy 127.0.0.1:7070 --wait 10
            """)

    @Option(help: ArgumentHelp("Address of the proxy, HOST:PORT. Default: WIRETAPE_PROXY.", valueName: "host:port"))
    var proxy: ListenAddress?

    @Option(help: ArgumentHelp("Seconds to wait for an answer, from 0 to 3600.", valueName: "seconds"))
    var wait = 0

    @Flag(name: .shortAndLong, help: "Print nothing.")
    var quiet = false

    func validate() throws {
        _ = try EnvCommand.address(self.proxy, ChildEnvironment.parent)
        guard (0...3600).contains(self.wait) else { throw ValidationError("--wait takes 0 to 3600 seconds.") }
    }

    func run() throws {
        SignalThread.unblock()
        let address = try EnvCommand.address(self.proxy, ChildEnvironment.parent)
        let end = time(nil) + self.wait
        while true {
            switch ProxyGreeting.ask(address) {
            case .wiretape:
                if !self.quiet { Terminal.output.line("wiretape listens on \(address).") }
                return
            // Something else uses the port, and waiting would not change that.
            case .somethingElse: try self.fail("\(address) answers, but it is not wiretape: choose another port.")
            case .nothing(let problem):
                if time(nil) >= end {
                    try self.fail("nothing listens on \(address) (\(problem)): start the proxy with --listen \(address).")
                }
                usleep(50_000)
            }
        }
    }

    private func fail(_ message: String) throws -> Never {
        if !self.quiet { Terminal.error.complain(message) }
        throw ExitCode(ExitStatus.failed)
    }
}

/// Finds out what answers at an address.
enum ProxyGreeting {
    enum Answer: Equatable {
        case wiretape
        case somethingElse
        /// - problem: the problem with the connection.
        case nothing(String)
    }

    /// Waits at most two seconds for each step.
    static func ask(_ address: ListenAddress) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = streamSocket
        var found: UnsafeMutablePointer<addrinfo>?
        // Without an /etc/hosts, localhost is not found.
        let host = address.host.lowercased() == "localhost" ? "127.0.0.1" : address.host
        let code = getaddrinfo(host, String(address.port), &hints, &found)
        guard code == 0 else { return .nothing(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(found) }
        var problem = "no address"
        var next = found
        while let info = next?.pointee {
            next = info.ai_next
            let descriptor = socket(info.ai_family, streamSocket, 0)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var patience = timeval(tv_sec: 2, tv_usec: 0)
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
            }
            guard connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 else {
                problem = String(cString: strerror(errno))
                continue
            }
            return self.judge(self.answer(descriptor, host: address.description))
        }
        return .nothing(problem)
    }

    /// The start of the answer to GET /.
    private static func answer(_ descriptor: Int32, host: String) -> String {
        let request = Array("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)
        guard request.withUnsafeBytes({ Terminal.write($0, to: descriptor) }) == request.count else { return "" }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        while text.count < 4096 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The greeting, or a refusal that names the realm.
    static func judge(_ answer: String) -> Answer {
        answer.contains("\r\n\r\nthis is wiretape") || answer.contains("realm=\"wiretape\"") ? .wiretape : .somethingElse
    }
}
