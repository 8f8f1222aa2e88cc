# SPDX-License-Identifier: GPL-2.0-or-later
#
# Everything a person types. What is behind each target stands in scripts/ and
# emulator/; "make help" lists them.

KDIR ?= /lib/modules/$(shell uname -r)/build
LAB = scripts/lab/enter

help:
	@echo 'Tern, an open RoCE NIC. Targets:'
	@echo '  demo             two virtual machines doing RDMA over two Tern NICs'
	@echo '  demo-lossless    three of them at a switch: PFC and ECN, a table and plots'
	@echo '  check            every test and lint; the gate'
	@echo '  check-fast       the part of it that boots no virtual machine'
	@echo '  check-soak       the long proofs'
	@echo '  check-rdma-core  the tests of rdma-core itself, in a virtual machine'
	@echo '  bench            the figures of Documentation/performance.rst'
	@echo '  shell            two virtual machines, a prompt in each'
	@echo '  lint             style and static checks alone'
	@echo '  modules          tern.ko and tern_ib.ko for this kernel, or KDIR=...'
	@echo '  modules_install  install them for this kernel'
	@echo '  provider         the rdma-core provider, in build/provider'
	@echo '  ternd            the emulated NIC, in build/emulator'
	@echo '  tools            tern-dcb, in build/tools'
	@echo '  lab              make the lab ahead of time (also: lab-debug)'
	@echo '  clean            remove build/ (the lab is in ~/.cache/tern)'
	@echo 'modules needs only kernel headers. The others make the lab at first'
	@echo 'use, as root; they take 3 minutes longer then, and check 15 more.'

demo demo-lossless:
	scripts/$@

check check-fast check-soak check-rdma-core:
	scripts/check $@

lint:
	scripts/check lint

bench:
	scripts/bench

shell:
	scripts/shell

modules:
	scripts/build-modules $(KDIR)

modules_install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR)/build/modules/$$(make -s -C $(KDIR) kernelrelease) modules_install

provider:
	scripts/build-provider

ternd:
	$(LAB) $(MAKE) -C emulator -j2 ternd

tools:
	$(LAB) $(MAKE) -C tools

lab:
	scripts/lab/get guest-image
	scripts/lab/get initramfs
	scripts/lab/get rdma-core

lab-debug: lab
	scripts/lab/get debug-kernel

clean:
	rm -rf build

.PHONY: help demo demo-lossless check check-fast check-soak check-rdma-core lint bench shell \
	modules modules_install provider ternd tools lab lab-debug clean
