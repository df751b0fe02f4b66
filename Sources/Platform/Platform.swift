// The C library of the platform, under one name: a file that imports Platform has it. `@_exported` has no spelling without the underscore yet.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
#else
@_exported public import Darwin
#endif

/// SOCK_STREAM, as `socket` takes it.
public let streamSocket: Int32 = {
    #if canImport(Glibc)
    Int32(SOCK_STREAM.rawValue)
    #else
    SOCK_STREAM
    #endif
}()
