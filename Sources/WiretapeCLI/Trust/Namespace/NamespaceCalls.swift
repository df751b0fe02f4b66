internal import Platform

#if os(Linux)

/// Calls of Linux that Swift's view of the C library leaves out, or that take any number of arguments.
struct NamespaceCalls {
    static let newMounts: Int32 = 0x0002_0000
    static let newUser: Int32 = 0x1000_0000
    static let bind: UInt = 0x1000
    static let recursive: UInt = 0x4000
    static let isPrivate: UInt = 1 << 18
    static let move: UInt = 0x2000
    static let noSetUser: UInt = 2
    static let noDevices: UInt = 4

    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Mount =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt, UnsafePointer<CChar>?
        ) -> Int32
    private typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32

    private let unshareCall: Unshare
    private let mountCall: Mount
    private let controlCall: Control

    /// Nil where the C library has them not.
    init?() {
        guard let unshare = dlsym(nil, "unshare"), let mount = dlsym(nil, "mount"), let control = dlsym(nil, "prctl") else { return nil }
        // SAFETY: int unshare(int); int mount(const char *, const char *, const char *, unsigned long, const void *).
        self.unshareCall = unsafeBitCast(unshare, to: Unshare.self)
        self.mountCall = unsafeBitCast(mount, to: Mount.self)
        // SAFETY: int prctl(int, ...), whose callers give four unsigned longs; in the C calling conventions of Linux on x86-64 and arm64
        // these go where fixed arguments go.
        self.controlCall = unsafeBitCast(control, to: Control.self)
    }

    func unshare(_ flags: Int32) throws(SystemError) {
        guard self.unshareCall(flags) == 0 else { throw SystemError(number: errno) }
    }

    func mount(_ source: String?, at target: String, type: String? = nil, _ flags: UInt, data: String? = nil) throws(SystemError) {
        guard self.mountCall(source, target, type, flags, data) == 0 else { throw SystemError(number: errno) }
    }

    /// The capabilities that this process could get by becoming another program; numbers from 0.
    var boundingSet: Set<UInt> { Set((0..<64).filter { self.controlCall(23, $0, 0, 0, 0) == 1 }) }

    /// None but these from now on.
    func bound(to capabilities: Set<UInt>) {
        for capability in self.boundingSet.subtracting(capabilities) { _ = self.controlCall(24, capability, 0, 0, 0) }
    }

    struct SystemError: Error { var number: Int32 }
}
#endif
