public import ArgumentParser
public import TapeProxy

extension ListenAddress: ExpressibleByArgument {}
